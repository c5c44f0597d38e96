package widgets

import (
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/x448/float16"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/bfloat16"
)

// rowOf is what the figure says of a number in a format.
func rowOf(t testing.TB, v float64, f amp.Format) BitsRow {
	t.Helper()
	d := Bits(v).Bits
	if len(d.Values) != 1 || len(d.Values[0].Rows) != len(BitsFormats) {
		t.Fatalf("%v: %+v", v, d)
	}
	return *d.Values[0].row(f)
}

func same(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) || a != a && b != b }

// TestBitsOfEveryHalf: every float16 and bfloat16 keeps its bits and its value, as the libraries that amp stores halves with read them.
func TestBitsOfEveryHalf(t *testing.T) {
	for b := range 1 << 16 {
		for f, v := range map[amp.Format]float64{
			amp.FormatFP16: float64(float16.Frombits(uint16(b)).Float32()), amp.FormatBF16: float64(bfloat16.Frombits(uint16(b)).Float32()),
		} {
			r := bitsRow(f, v)
			if v != v {
				if r.Kind != "nan" || float64(r.Value) == float64(r.Value) {
					t.Fatalf("%v %#04x: %+v", f, b, r)
				}
				continue
			}
			if r.Bits != uint32(b) || !same(float64(r.Value), v) || r.Error != 0 {
				t.Fatalf("%v %#04x is %v: %+v", f, b, v, r)
			}
			if s, e, m := r.Fields(); s+e+m != pad0(uint64(b), 16) || len(e) != r.Exponent {
				t.Fatalf("%v %#04x: fields %s %s %s", f, b, s, e, m)
			}
		}
	}
}

func pad0(b uint64, n int) string {
	s := strconv.FormatUint(b, 2)
	return strings.Repeat("0", n-len(s)) + s
}

// TestBitsRoundAsAMPDoes: numbers of float32 become the halves that x448/float16 and amp's own conversion make of them.
func TestBitsRoundAsAMPDoes(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	root := amp.NewScope(amp.On("cpu"))
	defer root.Close()
	values := make([]float32, 1<<14)
	for i := range values {
		values[i] = math.Float32frombits(r.Uint32())
		if i%2 == 0 { // within float16's range, where there is something to round
			values[i] = math.Float32frombits(r.Uint32()&0x807fffff | (uint32(90+r.IntN(56)) << 23))
		}
	}
	x := amp.From(values, len(values))
	half, brain := amp.Values[float32](amp.To(root, amp.To(root, x, amp.Float16), amp.Float32)), amp.Values[float32](amp.To(root, amp.To(root, x, amp.BFloat16), amp.Float32))
	for i, v := range values {
		if v != v {
			continue
		}
		fp16, bf16 := bitsRow(amp.FormatFP16, float64(v)), bitsRow(amp.FormatBF16, float64(v))
		if want := float16.Fromfloat32(v).Bits(); fp16.Bits != uint32(want) || !same(float64(fp16.Value), float64(half[i])) {
			t.Fatalf("%v in float16: %+v, want %#04x and %v", v, fp16, want, half[i])
		}
		if want := bfloat16.Fromfloat32(v).Bits(); bf16.Bits != uint32(want) || !same(float64(bf16.Value), float64(brain[i])) {
			t.Fatalf("%v in bfloat16: %+v, want %#04x and %v", v, bf16, want, brain[i])
		}
		if fp32 := bitsRow(amp.FormatFP32, float64(v)); fp32.Bits != math.Float32bits(v) || fp32.Error != 0 {
			t.Fatalf("%v in float32: %+v", v, fp32)
		}
	}
}

// ocp reads a float8 by the text of the Open Compute Project's specification, OFP8 revision 1.0: e4m3 has bias 7, no infinity, and one NaN
// for each sign; e5m2 has bias 15 and is IEEE's.
func ocp(e4m3 bool, b int) float64 {
	sign := 1 - 2*float64(b>>7)
	if e4m3 {
		s, e, m := sign, b>>3&15, float64(b&7)
		switch {
		case e == 15 && m == 7:
			return math.NaN()
		case e == 0:
			return s * math.Pow(2, -6) * m / 8
		}
		return s * math.Pow(2, float64(e-7)) * (1 + m/8)
	}
	e, m := b>>2&31, float64(b&3)
	switch {
	case e == 31 && m == 0:
		return math.Inf(int(sign))
	case e == 31:
		return math.NaN()
	case e == 0:
		return sign * math.Pow(2, -14) * m / 4
	}
	return sign * math.Pow(2, float64(e-15)) * (1 + m/4)
}

// TestBitsOfEveryFloat8: all 256 codes of both formats, and between any two neighbors the nearer one, the even one in the middle.
func TestBitsOfEveryFloat8(t *testing.T) {
	for _, f := range []amp.Format{amp.FormatE4M3, amp.FormatE5M2} {
		e4m3 := f == amp.FormatE4M3
		for b := range 256 {
			v := ocp(e4m3, b)
			r := bitsRow(f, v)
			if v != v {
				if r.Kind != "nan" {
					t.Errorf("%v %#02x: %+v", f, b, r)
				}
				continue
			}
			if e4m3 && math.IsInf(v, 0) || r.Bits != uint32(b) || !same(float64(r.Value), v) {
				t.Errorf("%v %#02x is %v: %+v", f, b, v, r)
			}
			up := ocp(e4m3, b+1)
			if b == 127 || b == 255 || !(math.Abs(up) > math.Abs(v)) || math.IsInf(up, 0) {
				continue
			}
			if above := float64(r.Above); b < 128 && above != up || b > 128 && float64(r.Below) != up {
				t.Errorf("%v %#02x: neighbors %v and %v, want %v", f, b, r.Below, r.Above, up)
			}
			middle := (v + up) / 2
			for x, want := range map[float64]int{math.Nextafter(middle, v): b, math.Nextafter(middle, up): b + 1, middle: b + b&1} {
				if got := bitsRow(f, x); got.Bits != uint32(want) {
					t.Errorf("%v: %v becomes %#02x, want %#02x", f, x, got.Bits, want)
				}
			}
		}
	}
	for f, ends := range map[amp.Format][2]float64{amp.FormatE4M3: {448, 464}, amp.FormatE5M2: {57344, 61440}} { // the largest, and the middle beyond it
		if r := bitsRow(f, math.Nextafter(ends[1], 0)); float64(r.Value) != ends[0] || r.Lost() {
			t.Errorf("%v: below %v: %+v", f, ends[1], r)
		}
		beyond := ends[1]
		if f == amp.FormatE4M3 { // 464 is a tie with a code that is NaN: it goes to the even one, 448
			if r := bitsRow(f, beyond); float64(r.Value) != 448 {
				t.Errorf("e4m3: 464 becomes %+v", r)
			}
			beyond = math.Nextafter(464, 500)
		}
		if r := bitsRow(f, beyond); !r.Lost() {
			t.Errorf("%v: %v: %+v", f, beyond, r)
		}
	}
}

// TestBitsWords: what becomes of a number is said in words, in the row and in the finding.
func TestBitsWords(t *testing.T) {
	for _, c := range []struct {
		v      float64
		f      amp.Format
		want   string
		inText string
	}{
		{1, amp.FormatFP16, "exact", "1 is exact in fp16, exact in bf16."},
		{.1, amp.FormatFP16, "rounded", "0.1 is 0.099976 in fp16 (off by 0.024%)"},
		{1e-8, amp.FormatFP16, "flushed to zero: the smallest is 5.96e-8", "1e-8 is flushed to zero in fp16, 1.001e-8 in bf16"},
		{6e-5, amp.FormatFP16, "subnormal: 10 of 11 digits left", "subnormal"},
		{70000, amp.FormatFP16, "overflows to infinity: the largest is 65504", "overflows to infinity in fp16"},
		{500, amp.FormatE4M3, "NaN: there is no infinity, the largest is 448", "fp8 e4m3 cannot hold it."},
		{1e-3, amp.FormatE4M3, "subnormal: 1 of 4 digits left", ""},
		{math.Inf(1), amp.FormatFP32, "infinite", "∞ is infinite"},
		{math.NaN(), amp.FormatFP32, "not a number", "NaN is NaN"},
		{0, amp.FormatBF16, "exact", "0 is exact"},
		{1e300, amp.FormatFP32, "overflows to infinity: the largest is 3.40282e38", "overflows"},
	} {
		f := Bits(c.v)
		if r := rowOf(t, c.v, c.f); r.Becomes != c.want {
			t.Errorf("%v in %v: %q, want %q", c.v, c.f, r.Becomes, c.want)
		}
		if !strings.Contains(f.Alt, c.inText) {
			t.Errorf("%v: %q", c.v, f.Alt)
		}
	}
}

// TestBitsAreWorkedOutAgain: what a file says of a number does not count, only the number.
func TestBitsAreWorkedOutAgain(t *testing.T) {
	f, err := Parse([]byte(`{"schema":"halftone.figure/1","kind":"bits","title":"lie","alt":"lie","data":{"sentence":"lie","values":[{"value":0.1,"rows":[{"format":"fp99","exponent":-7,"fraction":1000000,"becomes":"lie"}]}]}}`))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(f.Text()+f.Alt, "lie") || f.Text() != Bits(.1).Text() {
		t.Error(f.Text())
	}
}

func TestDecimalText(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0", math.Copysign(0, -1): "-0", .1: "0.1", 65504: "65504", 1e9: "1e9", 123456789: "123456789", 9.99e-5: "9.99e-5", 1e-4: "0.0001",
		math.MaxFloat32: "3.40282347e38", -2.5: "-2.5", 999999999.9: "1e9", 1.0 / 3: "0.333333333", math.SmallestNonzeroFloat32: "1.40129846e-45",
	} {
		if got := DecimalText(v); got != want {
			t.Errorf("%v: %q, want %q", v, got, want)
		}
	}
}

// TestTiesOfDigits: an error that lies between two decimals is written as the page writes it.
func TestTiesOfDigits(t *testing.T) {
	for v, want := range map[float64]string{1 + 0.3125/1024: "-0.313 ulp", -1 - 0.3125/1024: "+0.313 ulp", 1 + 0.25/1024: "-0.25 ulp", 1: "0"} {
		if got := Bits(v).Bits.Values[0].row(amp.FormatFP16).ErrorText(); got != want {
			t.Errorf("%v is off by %s, want %s", v, got, want)
		}
	}
}

// TestRelativeErrorIsRoundedOnce: two digits of 0.03649% are 0.036%, as the page has them.
func TestRelativeErrorIsRoundedOnce(t *testing.T) {
	r := Bits(6e-5).Bits.Values[0].row(amp.FormatFP16)
	if got := r.RelativeError(); got != "0.036%" {
		t.Errorf("%s of %v", got, r.Relative)
	}
}

// FuzzBits: any number, in any format: the nearest one between its neighbors, and an error of at most half an ulp.
func FuzzBits(f *testing.F) {
	for _, v := range []float64{0, .1, -1, 65519.99, 1e-8, 5e-324, math.MaxFloat64, math.Inf(-1), math.NaN(), 464} {
		f.Add(math.Float64bits(v))
	}
	f.Fuzz(func(t *testing.T, bits uint64) {
		v := math.Float64frombits(bits)
		for _, format := range BitsFormats {
			r := bitsRow(format, v)
			x, below, above := float64(r.Value), float64(r.Below), float64(r.Above)
			if back := format.Decode(r.Bits); !same(back, x) {
				t.Fatalf("%v in %v: %#x reads back as %v, not %v", v, format, r.Bits, back, x)
			}
			if r.Kind == "nan" || math.IsInf(x, 0) {
				continue
			}
			if !(below < x && x < above) || math.Abs(x-v) > float64(r.ULP)/2 || math.Abs(x-v) > math.Abs(below-v) || math.Abs(x-v) > math.Abs(above-v) {
				t.Fatalf("%v in %v: %+v", v, format, r)
			}
		}
	})
}

// TestBitsTextKeepsColumnsApart: a number with many digits stands beside the values, not in them.
func TestBitsTextKeepsColumnsApart(t *testing.T) {
	text := Bits(1.23456789e-8, -0.000123456789, 2).Text()
	for _, head := range []string{"1.23456789e-8    VALUE", "-0.000123456789  VALUE", "2                VALUE"} {
		if !strings.Contains(text, head) {
			t.Errorf("no %q in\n%s", head, text)
		}
	}
}
