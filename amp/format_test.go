package amp

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// TestFormatsAgreeWithConversions holds the formats of tensors to the conversions that tensors use, for every half and many floats.
func TestFormatsAgreeWithConversions(t *testing.T) {
	for h := range uint32(1 << 16) {
		f16, bf16 := float64(cpu.F16ToF32(uint16(h))), float64(cpu.BF16ToF32(uint16(h)))
		for _, c := range []struct {
			f    Format
			want float64
		}{{FormatFP16, f16}, {FormatBF16, bf16}} {
			got := c.f.Decode(h)
			if got != c.want && got == got || math.Signbit(got) != math.Signbit(c.want) && got == got {
				t.Fatalf("%v %#04x is %v, want %v", c.f, h, got, c.want)
			}
			if got == got && c.f.Encode(got) != h {
				t.Fatalf("%v %v encodes as %#04x, want %#04x", c.f, got, c.f.Encode(got), h)
			}
		}
	}
	r := NewStream(5)
	v := make([]float64, 20000)
	r.fill(v, func(u, w float64) (float64, float64) {
		return math.Ldexp(1+u, int(300*w)-150), -math.Ldexp(1+w, int(60*u)-30)
	})
	for _, x := range v {
		if got, want := FormatFP16.Round(x), float64(cpu.F16ToF32(cpu.F64ToF16(x))); got != want {
			t.Fatalf("fp16 of %v is %v, want %v", x, got, want)
		}
		if got, want := FormatBF16.Round(x), float64(cpu.BF16ToF32(cpu.F64ToBF16(x))); got != want {
			t.Fatalf("bf16 of %v is %v, want %v", x, got, want)
		}
		if got, want := FormatFP32.Round(x), float64(float32(x)); got != want {
			t.Fatalf("fp32 of %v is %v, want %v", x, got, want)
		}
		if got, want := FormatFP32.Encode(x), math.Float32bits(float32(x)); got != want {
			t.Fatalf("fp32 bits of %v are %#x, want %#x", x, got, want)
		}
	}
}

// TestFormatFacts are the numbers of the specification's table.
func TestFormatFacts(t *testing.T) {
	for _, c := range []struct {
		f                         Format
		bits                      int
		max, normal, sub, epsilon float64
	}{
		{FormatFP32, 32, 3.4028234663852886e38, 1.1754943508222875e-38, 1.401298464324817e-45, 1.1920928955078125e-07},
		{FormatTF32, 19, 3.4011621342146535e38, 1.1754943508222875e-38, 1.1479437019748901e-41, 9.765625e-04},
		{FormatBF16, 16, 3.3895313892515355e38, 1.1754943508222875e-38, 9.183549615799121e-41, 7.8125e-03},
		{FormatFP16, 16, 65504, 6.103515625e-05, 5.960464477539063e-08, 9.765625e-04},
		{FormatE5M2, 8, 57344, 6.103515625e-05, 1.52587890625e-05, 0.25},
		{FormatE4M3, 8, 448, 0.015625, 0.001953125, 0.125},
		{FormatE2M1, 4, 6, 1, 0.5, 0.5},
	} {
		if c.f.Bits() != c.bits || c.f.Max() != c.max || c.f.MinNormal() != c.normal || c.f.MinSubnormal() != c.sub || c.f.Epsilon() != c.epsilon {
			t.Errorf("%v: %d bits, max %v, normal %v, subnormal %v, epsilon %v", c.f, c.f.Bits(), c.f.Max(), c.f.MinNormal(), c.f.MinSubnormal(), c.f.Epsilon())
		}
		if got := c.f.Round(c.sub / 2); got != 0 {
			t.Errorf("%v: half the smallest number rounds to %v, ties go to even", c.f, got)
		}
		if got := c.f.Round(math.Nextafter(c.sub/2, 1)); got != c.sub {
			t.Errorf("%v: just above half the smallest number rounds to %v", c.f, got)
		}
		for h := range min(uint32(1)<<c.f.Bits(), 1<<16) { // every number, or the small ones, keeps its bits
			if v := c.f.Decode(h); v == v && c.f.Encode(v) != h {
				t.Fatalf("%v: %#x is %v and encodes as %#x", c.f, h, v, c.f.Encode(v))
			}
		}
	}
	for _, c := range []struct {
		f       Format
		v, want float64
	}{
		{FormatFP16, 65519.996, 65504}, {FormatFP16, 65520, math.Inf(1)}, {FormatE5M2, 61440, math.Inf(1)}, {FormatE5M2, 61439, 57344},
		{FormatE4M3, 464, 448}, {FormatE4M3, 464.1, math.NaN()}, {FormatE4M3, math.Inf(-1), math.NaN()}, {FormatE4M3, -448, -448},
		{FormatE2M1, 1e9, 6}, {FormatE2M1, math.Inf(-1), -6}, {FormatE2M1, 5, 4}, {FormatE2M1, 3.5, 4}, {FormatE2M1, math.NaN(), math.NaN()},
		{FormatFP16, 2049, 2048}, {FormatBF16, 257, 256}, {FormatTF32, 1 + 0x1p-11, 1},
	} {
		if got := c.f.Round(c.v); got != c.want && !(got != got && c.want != c.want) {
			t.Errorf("%v of %v is %v, want %v", c.f, c.v, got, c.want)
		}
	}
	if err := Maybe(func() { FormatE4M3.Decode(256) }); !errors.Is(err, ErrArgument) {
		t.Error(err)
	}
}

// TestE2M1 holds all sixteen to the list of the specification: every pattern is a number. NaN has no pattern and stays what it is elsewhere.
func TestE2M1(t *testing.T) {
	for bits := range uint32(16) {
		want := e2m1Numbers[bits&7]
		if bits > 7 {
			want = -want
		}
		if got := FormatE2M1.Decode(bits); got != want || math.Signbit(got) != (bits > 7) || FormatE2M1.Encode(got) != bits {
			t.Errorf("%04b is %v, want %v", bits, got, want)
		}
	}
	if n := FormatE2M1.Inspect(math.NaN()); n.Bits != 8 || n.Value == n.Value || n.Kind != "nan" {
		t.Errorf("%+v", n)
	}
	if n := FormatE2M1.Inspect(math.Inf(1)); n.Bits != 7 || n.Value != 6 || n.Kind != "normal" || n.BitString() != "0 11 1" {
		t.Errorf("%+v", n)
	}
	if v := FormatE2M1.RoundStochastic(100, 0.5); v != 6 {
		t.Errorf("100 becomes %v", v)
	}
}

// TestNeighbors walks up through all positive numbers of the formats of 8 and 4 bits.
func TestNeighbors(t *testing.T) {
	for _, f := range []Format{FormatE5M2, FormatE4M3, FormatE2M1} {
		for h := uint32(0); ; h++ {
			n := f.Inspect(f.Decode(h))
			up := f.Decode(h + 1)
			if up != up || up <= 0 { // e4m3 has no infinity, and e2m1 ends
				up = math.Inf(1)
			}
			if n.Above != up || h > 0 && n.Below != f.Decode(h-1) || h == 0 && n.Below != -f.MinSubnormal() {
				t.Fatalf("%v: %v lies between %v and %v", f, n.Value, n.Below, n.Above)
			}
			if math.IsInf(up, 1) {
				break
			}
		}
	}
	if n := Half(1e6); n.Kind != "infinite" || n.Below != 65504 {
		t.Errorf("%+v", n)
	}
	if n := Half(math.NaN()); n.Kind != "nan" {
		t.Errorf("%+v", n)
	}
	if n := Half(-65504); !math.IsInf(n.Below, -1) || n.Above != -65472 {
		t.Errorf("%+v", n)
	}
}

// TestStochasticRounding: the mean of many is the number, and each is a neighbor.
func TestStochasticRounding(t *testing.T) {
	const v, n = 1 + 0.3*0x1p-7, 40000
	u := make([]float64, n)
	NewStream(2).fill(u, func(a, b float64) (float64, float64) { return a, b })
	sum := 0.0
	for _, x := range u {
		r := FormatBF16.RoundStochastic(-v, x)
		if r != -1 && r != -1-0x1p-7 {
			t.Fatalf("%v", r)
		}
		sum += r
	}
	if got := (-sum/n - 1) * 0x1p7; !(math.Abs(got-0.3) <= 0.01) {
		t.Errorf("the mean lies at %v of the gap, want 0.3", got)
	}
	if r := FormatBF16.RoundStochastic(1.5, 0); r != 1.5 {
		t.Errorf("a number of the format became %v", r)
	}
}

func ExampleHalf() {
	fmt.Print(Half(1e-7))
	fmt.Print(FormatE4M3.Inspect(1000))
	// Output:
	// 1e-07 in fp16 is 1.1920928955078125e-07 (subnormal)
	// bits        0 00000 0000000010
	// neighbors   5.960464477539063e-08 and 1.7881393432617188e-07, a ulp is 5.960464477539063e-08
	// error       1.9209289550781255e-08, relative 0.192
	// 1000 in e4m3 is NaN (nan)
	// bits        0 1111 111
}
