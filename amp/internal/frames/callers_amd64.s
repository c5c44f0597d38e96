#include "textflag.h"

// func callers(rets []uintptr) int
TEXT ·callers(SB), NOSPLIT|NOFRAME, $0-32
	MOVQ rets_base+0(FP), DI
	MOVQ rets_len+8(FP), CX
	XORQ DX, DX
	MOVQ BP, AX          // of the caller: this function has no frame
loop:
	CMPQ  DX, CX
	JGE   done
	TESTQ AX, AX
	JEQ   done
	MOVQ  8(AX), BX      // the return address lies above the saved frame pointer
	MOVQ  BX, (DI)(DX*8)
	INCQ  DX
	MOVQ  (AX), BX
	CMPQ  BX, AX         // frames further out lie higher; the outermost one's pointer is 0
	JLS   done
	MOVQ  BX, AX
	JMP   loop
done:
	MOVQ DX, ret+24(FP)
	RET
