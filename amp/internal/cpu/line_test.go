package cpu

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unsafe"
)

// lineKernels are all of them, with the number of float32 and float64 lines that each touches.
var lineKernels = map[string]*LineKernel{
	"lineMax": &LineMax, "lineSum": &LineSum, "lineDot": &LineDot, "lineSpread": &LineSpread, "lineExp": &LineExp, "lineExpSum": &LineExpSum,
	"lineScale": &LineScale, "lineScaleAdd": &LineScaleAdd, "lineScaleMask": &LineScaleMask, "lineShift": &LineShift, "lineSoftmaxGrad": &LineSoftmaxGrad, "lineLogSoftmaxGrad": &LineLogSoftmaxGrad,
	"lineNorm": &LineNorm, "lineNormWeight": &LineNormWeight, "lineNormBias": &LineNormBias, "lineNormSums": &LineNormSums,
	"lineGeluGrad": &LineGeluGrad, "lineGeluTanhGrad": &LineGeluTanhGrad, "lineSiluGrad": &LineSiluGrad, "lineSigmoidGrad": &LineSigmoidGrad, "lineTanhGrad": &LineTanhGrad,
	"lineAdd": &LineAdd, "lineSub": &LineSub, "lineMul": &LineMul, "lineDiv": &LineDiv, "lineMaximum": &LineMaximum, "lineMinimum": &LineMinimum,
	"lineAddcmul": &LineAddcmul, "lineAddcdiv": &LineAddcdiv, "lineLerp": &LineLerp, "lineLerpNumber": &LineLerpNumber, "lineClampTo": &LineClampTo,
	"lineAddNumber": &LineAddNumber, "lineNeg": &LineNeg, "lineAbs": &LineAbs,
	"lineClamp": &LineClamp, "lineReLU": &LineReLU, "lineReLUGrad": &LineReLUGrad, "lineLeaky": &LineLeaky, "lineLeakyGrad": &LineLeakyGrad,
	"lineSquaresApart": &LineSquaresApart, "lineAmountsApart": &LineAmountsApart, "linePull": &LinePull, "linePullSign": &LinePullSign,
	"lineAmountApart": &LineAmountApart, "lineFollow": &LineFollow, "lineFollowSign": &LineFollowSign,
	"lineApart": &LineApart, "lineCompare": &LineCompare, "lineWhere": &LineWhere, "lineMaxNaN": &LineMaxNaN,
	"lineChannel": &LineChannel, "lineChannels": &LineChannels, "lineChannelGrad": &LineChannelGrad, "lineChannelsGrad": &LineChannelsGrad,
	"lineSpreadColumns": &LineSpreadColumns, "lineProductColumns": &LineProductColumns,
	"lineSquare": &LineSquare, "lineCube": &LineCube, "lineSqrt": &LineSqrt, "lineRsqrt": &LineRsqrt, "lineReciprocal": &LineReciprocal, "lineSign": &LineSign,
	"lineElu": &LineElu, "lineEluGrad": &LineEluGrad, "lineSoftplus": &LineSoftplus, "lineSoftplusGrad": &LineSoftplusGrad,
	"lineLogSigmoid": &LineLogSigmoid, "lineLogSigmoidGrad": &LineLogSigmoidGrad, "lineMish": &LineMish, "lineMishGrad": &LineMishGrad,
	"lineHardswish": &LineHardswish, "lineHardswishGrad": &LineHardswishGrad,
	"lineDistance": &LineDistance, "lineHuber": &LineHuber, "lineBinaryCrossEntropy": &LineBinaryCrossEntropy, "lineDivergence": &LineDivergence,
	"lineShort": &LineShort, "lineAmount": &LineAmount, "lineAmounts": &LineAmounts,
	"lineMomentum": &LineMomentum, "lineAdam": &LineAdam, "lineDescend": &LineDescend, "lineExpScale": &LineExpScale, "lineNormPlainSums": &LineNormPlainSums, "lineNormGrad": &LineNormGrad, "lineNormPlainGrad": &LineNormPlainGrad,
	"lineGate": &LineGate, "lineTanhGate": &LineTanhGate, "lineLSTM": &LineLSTM, "lineLSTMGradOut": &LineLSTMGradOut, "lineLSTMGradIn": &LineLSTMGradIn, "lineLSTMGradForget": &LineLSTMGradForget,
	"lineGRU": &LineGRU, "lineGRUGrad": &LineGRUGrad, "lineGRUGradReset": &LineGRUGradReset,
}

// TestLineLayout: the assembly knows where the fields lie.
func TestLineLayout(t *testing.T) {
	var l Line
	got := []uintptr{unsafe.Offsetof(l.F32), unsafe.Offsetof(l.Arg), unsafe.Offsetof(l.Acc), unsafe.Offsetof(l.Ahead), unsafe.Sizeof(l.Acc), unsafe.Offsetof(l.Half)}
	if want := []uintptr{0, 168, 200, 328, 128, 336}; !reflect.DeepEqual(got, want) {
		t.Errorf("fields at %v, the generator takes them to be at %v", got, want)
	}
}

// someLine makes lines of n elements, now and then special ones, that begin at any place of a cache line.
func someLine(rng *rand.Rand, n int, special bool) *Line {
	specials := []float32{0, float32(math.Copysign(0, -1)), float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN()), 1e-45, 3e38, -3e38, 88, -104}
	io := &Line{}
	for k := range io.F32 {
		io.F32[k] = make([]float32, n+16)[rng.IntN(16):][:n]
		for i := range io.F32[k] {
			io.F32[k][i] = float32(rng.NormFloat64() * 3)
			if special && rng.IntN(8) == 0 {
				io.F32[k][i] = specials[rng.IntN(len(specials))]
			}
		}
	}
	for k := range io.Arg {
		io.Arg[k] = float32(rng.NormFloat64())
	}
	for k := range io.Acc {
		for i := range io.Acc[k] {
			io.Acc[k][i] = rng.NormFloat64()
		}
	}
	return io
}

func (l *Line) clone() *Line {
	c := *l
	for k := range c.F32 {
		c.F32[k] = append([]float32(nil), l.F32[k]...)
	}
	return &c
}

// differs says where two lines have different bits, NaN aside.
func (l *Line) differs(m *Line) string {
	same := func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) || a != a && b != b }
	for k := range l.F32 {
		for i := range l.F32[k] {
			if !same(float64(l.F32[k][i]), float64(m.F32[k][i])) {
				return fmt.Sprintf("F32[%d][%d]: %v and %v", k, i, l.F32[k][i], m.F32[k][i])
			}
		}
	}
	for k := range l.Acc {
		for i := range l.Acc[k] {
			if !same(l.Acc[k][i], m.Acc[k][i]) {
				return fmt.Sprintf("Acc[%d][%d]: %v and %v", k, i, l.Acc[k][i], m.Acc[k][i])
			}
		}
	}
	return ""
}

// TestLineKernels: every form gives the bits of the Go form, for any length, place and number, and touches nothing beyond its lines.
func TestLineKernels(t *testing.T) {
	now := Current()
	defer SetMode(now)
	rng := rand.New(rand.NewPCG(1, 2))
	for _, name := range slices.Sorted(maps.Keys(lineKernels)) { // in one order, so that each run has the same numbers
		k := lineKernels[name]
		for n := range 102 {
			if n >= 100 {
				n *= 43 // several segments
			}
			io := someLine(rng, n, n%2 == 1)
			if strings.HasPrefix(name, "lineExp") { // none may be larger
				if most := io.MaxOf(io.F32[0]); n > 0 && math.IsInf(most, -1) { // there x0 - a0 is NaN, behind the line too
					io.F32[0][0] = 1
				}
				io.Arg[0] = float32(io.MaxOf(io.F32[0]))
			}
			if name == "lineExpScale" {
				io.Arg[1] = float32(math.Abs(float64(io.Arg[1])))
				io.Arg[0] *= io.Arg[1]
			}
			if name == "lineHuber" { // where two branches meet
				io.Arg[1] = float32(math.Abs(float64(io.Arg[1])))
			}
			if name == "lineAmount" { // a largest amount is none below 0
				for i, v := range io.Acc[0] {
					io.Acc[0][i] = math.Abs(v)
				}
			}
			want := io.clone()
			SetMode(Mode{Variant: Generic})
			k.Run(n, want)
			if n > 20 && n%2 == 0 && want.differs(io) == "" {
				t.Errorf("%s changes nothing", name)
			}
			for _, v := range Variants() {
				SetMode(Mode{Variant: v})
				got := io.clone()
				k.Run(n, got)
				if d := got.differs(want); d != "" {
					t.Fatalf("%s, %d elements, %v: %s", name, n, v, d)
				}
			}
		}
	}
}

// TestLineKernelMeaning holds what the kernels compute to package math.
func TestLineKernelMeaning(t *testing.T) {
	x := []float32{1, -2, 0.5, 3, float32(math.NaN())}
	io := &Line{}
	if m := io.MaxOf(x); m != 3 {
		t.Errorf("the largest is %v", m)
	}
	if s := io.SumOf(x[:4]); s != 2.5 {
		t.Errorf("the sum is %v", s)
	}
	if m := io.MaxOf(nil); !math.IsInf(m, -1) {
		t.Errorf("the largest of none is %v", m)
	}
	got := make([]float32, 4)
	io = &Line{F32: [lineCount][]float32{x[:4], got}, Arg: [8]float32{3}}
	LineExp.Run(4, io)
	sum := 0.0
	for i, v := range got {
		want := math.Exp(float64(x[i]) - 3)
		sum += want
		if !(math.Abs(float64(v)-want) <= 1e-7*want) {
			t.Errorf("e^(%v-3) is %v, want %v", x[i], v, want)
		}
	}
	if got := io.Acc[0].Sum(); !(math.Abs(got-sum) <= 1e-7*sum) {
		t.Errorf("the sum of exponentials is %v, want %v", got, sum)
	}
}

func TestLineTooShort(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a line that is too short was accepted")
		}
	}()
	LineScale.Run(32, &Line{F32: [lineCount][]float32{make([]float32, 32), make([]float32, 31)}})
}

func BenchmarkLine(b *testing.B) {
	io := someLine(rand.New(rand.NewPCG(1, 2)), 1024, false)
	for name, k := range lineKernels {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(1024) // so that MB/s is a thousandth of elements a nanosecond
			for b.Loop() {
				k.Run(1024, io)
			}
		})
	}
}
