package main

// Lines of halves: read, computed in float32 and rounded at the end in one pass, with the bits of the conversions of conversions.go and the line in
// float32 between them.

// A lineKind is what a line's elements are in memory.
type lineKind int

const (
	floats lineKind = iota
	float16s
	bfloat16s
)

func (k lineKind) size() int {
	if k == floats {
		return 4
	}
	return 2
}

func (k lineKind) suffix() string { return [...]string{"", "F16", "BF16"}[k] }
func (k lineKind) field() string  { return [...]string{"vec", "f16", "bf16"}[k] }
func (k lineKind) doc() string {
	return [...]string{"", " in float16", " in bfloat16"}[k]
}

// halfLines are those that training in half precision meets. Of those with sums it is the one whose lines may end in zeros.
var halfLines = map[string]bool{
	"lineAdd": true, "lineSub": true, "lineMul": true, "lineDiv": true, "lineMaximum": true, "lineMinimum": true, "lineAddcmul": true, "lineAddcdiv": true, "lineLerp": true, "lineLerpNumber": true, "lineClampTo": true,
	"lineScale": true, "lineAddNumber": true, "lineNeg": true, "lineAbs": true, "lineClamp": true, "lineSquare": true,
	"lineShort": true, "lineAmount": true, "lineAmounts": true,
	"lineAdam": true, "lineMomentum": true, "lineDescend": true, "lineSum": true,
	"lineReLU": true, "lineReLUGrad": true, "lineLeaky": true, "lineLeakyGrad": true,
	"lineGeluGrad": true, "lineGeluTanhGrad": true, "lineSiluGrad": true, "lineSigmoidGrad": true, "lineTanhGrad": true,
}

// read loads a register full.
func (w *lineWriter) read(from, r string) {
	switch w.kind {
	case float16s:
		w.f.op("VCVTPH2PS", from, r)
	case bfloat16s:
		w.f.op("VPMOVZXWD", from, r)
		w.f.op("VPSLLD", "$16", r, r)
	default:
		w.f.op("VMOVUPS", from, r)
	}
}

// write stores a register full, which keeps its value.
func (w *lineWriter) write(r, to string) {
	f := w.f
	if w.kind == floats {
		f.op("VMOVUPS", r, to)
		return
	}
	if w.kind == float16s {
		f.op("VCVTPS2PH", "$0", r, to)
		return
	}
	with := func(name string, u uint64, operands ...string) { // a constant first
		m, suffix := w.constant(u | u<<32)
		f.op(name+suffix, append([]string{m}, operands...)...)
	}
	if w.reg == "Z" { // as bf16Body
		last, none := w.masks[len(w.masks)-1], w.masks[len(w.masks)-2]
		t := w.take()
		with("VPTESTMD", 0x10000, r, last)
		with("VPADDD", 0x7fff, r, t)
		with("VPADDD", 1, t, last, t)
		f.op("VCMPPS", "$3", r, r, none)
		with("VPORD", 0x400000, r, none, t)
		f.op("VPSRLD", "$16", t, t)
		f.op("VPMOVDW", t, to)
		w.free = append(w.free, t)
		return
	}
	t, quiet, none := w.take(), w.take(), w.take()
	f.op("VPSRLD", "$16", r, t)
	with("VPOR", 0x40, t, quiet)
	with("VPAND", 1, t, t)
	with("VPADDD", 0x7fff, t, t)
	f.op("VPADDD", r, t, t)
	f.op("VPSRLD", "$16", t, t)
	f.op("VCMPPS", "$3", r, r, none)
	f.op("VBLENDVPS", none, quiet, t, t)
	f.op("VEXTRACTI128", "$1", t, "X"+quiet[1:])
	f.op("VPACKUSDW", "X"+quiet[1:], "X"+t[1:], "X"+t[1:])
	f.op("VMOVDQU", "X"+t[1:], to)
	w.free = append(w.free, t, quiet, none)
}
