package cudart

import (
	"encoding/binary"
	"math"
	"unsafe"

	"github.com/halftone-ml/halftone/amp"
)

// Launches of optimizer steps and of the unscaling (kernels/update.cu). The kernels take lists of tensors; a row is a list of one.

const (
	updateTensors = 24
	updateState   = 3
	updateThreads = 256
	updateEach    = 4 // elements per thread
	unscaleEach   = 8

	updateMaximize  = 1
	updateNesterov  = 2
	updateFirst     = 4
	updateDecoupled = 8
	updateVector    = 16
)

// updateArgs is struct Update.
type updateArgs struct {
	ptr          [2 + updateState][updateTensors]uint64
	n            [updateTensors]int64
	block        [updateTensors + 1]int32
	count, flags int32
	_            int32
	inv, found   uint64
	live         uint64
	attr         [10]float64
}

// unscaleArgs is struct Unscale.
type unscaleArgs struct {
	ptr          [updateTensors]uint64
	n            [updateTensors]int64
	block        [updateTensors + 1]int32
	count, flags int32
	_            int32
	inv          uint64
	found        uint64
	where        uint64
	attr         [2]float64
}

func init() {
	for _, name := range []string{"sgd_", "adam_", "rmsprop_", "adagrad_"} {
		register(launchUpdate, name)
	}
	register(launchUnscale, "unscale_")
}

// updateNumbers fills the numbers of the kernels from the settings of a row.
func updateNumbers(stem string, u *amp.Update) (attr [10]float64) {
	attr[0], attr[1] = u.LR, float64(u.Step)
	switch stem {
	case "sgd":
		attr[2], attr[3], attr[4] = u.Momentum, 1-u.Dampening, u.WeightDecay
	case "adam":
		c1, c2 := 1-math.Pow(u.Beta1, float64(u.Step)), 1-math.Pow(u.Beta2, float64(u.Step))
		attr[2], attr[3], attr[4], attr[5], attr[6], attr[7] = u.Beta1, u.Beta2, u.Eps, u.WeightDecay, u.LR/c1, math.Sqrt(c2)
	case "rmsprop":
		attr[2], attr[3], attr[4], attr[5] = u.Alpha, u.Momentum, u.Eps, u.WeightDecay
	case "adagrad":
		attr[0] = u.LR / (1 + float64(u.Step-1)*u.LRDecay)
		attr[4], attr[5] = u.Eps, u.WeightDecay
	}
	return attr
}

func updateFlags(u *amp.Update) (flags int32) {
	for _, f := range []struct {
		on  bool
		bit int32
	}{{u.Maximize, updateMaximize}, {u.Nesterov, updateNesterov}, {u.First, updateFirst}, {u.Decoupled, updateDecoupled}} {
		if f.on {
			flags |= f.bit
		}
	}
	return flags
}

// launchUpdate is the launch of every optimizer's row: param, grad, state, inv_scale, found_inf.
func launchUpdate(l *launcher) bool {
	stem, k := l.c.Op.CUDA, len(l.c.In)-2
	f := l.kernel(stem, l.in[0].dt, amp.NoDType)
	if f == 0 {
		return false
	}
	a := &l.updateArgs
	*a = updateArgs{count: 1, flags: updateFlags(l.c.Update) | updateVector, attr: updateNumbers(stem, l.c.Update)}
	n := l.in[0].len()
	a.n[0] = int64(n)
	for i := range k {
		if !l.given(i) {
			continue
		}
		a.ptr[i][0] = l.in[i].ptr
		if l.in[i].ptr%16 != 0 {
			a.flags &^= updateVector
		}
	}
	if l.given(k) {
		a.inv = l.in[k].ptr
	}
	if l.given(k + 1) {
		a.found = l.in[k+1].ptr
	}
	if n == 0 {
		return true
	}
	l.run(f, [3]uint32{blocks(n, updateThreads*updateEach), 1, 1}, [3]uint32{updateThreads, 1, 1}, 0, unsafe.Pointer(a), unsafe.Sizeof(*a))
	return true
}

// launchUnscale is the launch of unscale_, which tells the host what it found: it waits.
func launchUnscale(l *launcher) bool {
	f := l.kernel("unscale", l.in[0].dt, amp.NoDType)
	if f == 0 {
		return false
	}
	n := l.in[0].len()
	if n == 0 {
		return true
	}
	first := flat(l.workspace(8), amp.Int64, 1)
	if l.err != nil || !l.fill(&first, math.MaxUint64) {
		return false
	}
	a := &l.unscaleArgs
	*a = unscaleArgs{count: 1, where: first.ptr}
	a.ptr[0], a.n[0], a.attr[0] = l.in[0].ptr, int64(n), l.c.Scalar
	if l.in[0].ptr%16 == 0 {
		a.flags = updateVector
	}
	l.run(f, [3]uint32{blocks(n, updateThreads*unscaleEach), 1, 1}, [3]uint32{updateThreads, 1, 1}, 0, unsafe.Pointer(a), unsafe.Sizeof(*a))
	var word [8]byte
	l.d.count.syncs.Add(1)
	if l.err = l.d.download(word[:], l.tmp, 0); l.err != nil {
		return true
	}
	if found := binary.NativeEndian.Uint64(word[:]); found != math.MaxUint64 {
		l.c.Update.NonFinite = true
		l.c.Update.Value = [4]float64{math.Inf(1), math.Inf(-1), math.NaN(), math.NaN()}[found&3]
	}
	return true
}
