package libraries

import (
	"encoding/binary"
	"io"
	"os"
	"runtime"
)

// machines are those of ELF's e_machine.
var machines = map[string]uint16{"amd64": 62, "arm64": 183}

// foreign says whether a file is a library for another machine than this program's: where programs of 32 bits are installed too, the
// loader's folders hold a libcuda.so.1 for them (usr/lib32, usr/lib/i386-linux-gnu).
func foreign(file string) bool {
	f, err := os.Open(file)
	if err != nil {
		return false // opening it as a library says why
	}
	defer f.Close()
	head := make([]byte, 20)
	if _, err := io.ReadFull(f, head); err != nil || string(head[:4]) != "\x7fELF" {
		return false
	}
	const class64, littleEndian = 2, 1
	want, known := machines[runtime.GOARCH]
	return known && (head[4] != class64 || head[5] != littleEndian || binary.LittleEndian.Uint16(head[18:]) != want)
}
