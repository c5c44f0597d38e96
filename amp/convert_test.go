package amp

import (
	"encoding/json"
	"math"
	"os"
	"strconv"
	"testing"

	"github.com/halftone-ml/halftone/amp/bfloat16"
	"github.com/halftone-ml/halftone/amp/internal/cpu"
	"github.com/x448/float16"
)

func hex(t *testing.T, s string) uint64 {
	t.Helper()
	v, err := strconv.ParseUint(s, 16, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func readVectors(t *testing.T, name string, into any) {
	t.Helper()
	b, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, into); err != nil {
		t.Fatal(name, err)
	}
}

// TestConvertVectors checks every conversion vector through the cast op, so through the kernels that models use.
func TestConvertVectors(t *testing.T) {
	var v struct {
		Cases []struct {
			FP32, FP16, BF16, Note string
			NaN                    bool
			Wide16                 string `json:"fp16_as_fp32"`
			WideB16                string `json:"bf16_as_fp32"`
		}
		Double []struct {
			FP64   string
			Direct string `json:"fp16_direct"`
			Via    string `json:"fp16_via_fp32"`
		} `json:"fp64_to_fp16_double_rounding"`
	}
	readVectors(t, "convert_cases.json", &v)
	if len(v.Cases) != 468 || len(v.Double) != 4 {
		t.Fatalf("%d and %d vectors", len(v.Cases), len(v.Double))
	}
	in := make([]float32, len(v.Cases))
	for i, c := range v.Cases {
		in[i] = math.Float32frombits(uint32(hex(t, c.FP32)))
	}
	s := NewScope()
	defer s.Close()
	x := From(in)
	h, b := To(s, x, Float16), To(s, x, BFloat16)
	h16, b16 := Values[float16.Float16](h), Values[bfloat16.BFloat16](b)
	wide, wideB := Values[float32](To(s, h, Float32)), Values[float32](To(s, b, Float32))
	for i, c := range v.Cases {
		if c.NaN {
			if !h16[i].IsNaN() || !b16[i].IsNaN() || wide[i] == wide[i] || wideB[i] == wideB[i] {
				t.Errorf("%s (%s): not NaN: %04x %04x", c.FP32, c.Note, h16[i].Bits(), b16[i].Bits())
			}
			continue
		}
		if got := uint64(h16[i].Bits()); got != hex(t, c.FP16) {
			t.Errorf("%s (%s): float16 %04x, want %s", c.FP32, c.Note, got, c.FP16)
		}
		if got := uint64(b16[i].Bits()); got != hex(t, c.BF16) {
			t.Errorf("%s (%s): bfloat16 %04x, want %s", c.FP32, c.Note, got, c.BF16)
		}
		if uint64(math.Float32bits(wide[i])) != hex(t, c.Wide16) || uint64(math.Float32bits(wideB[i])) != hex(t, c.WideB16) {
			t.Errorf("%s: widened to %x and %x", c.FP32, wide[i], wideB[i])
		}
	}
	for _, d := range v.Double {
		f := math.Float64frombits(hex(t, d.FP64))
		if got := Values[float16.Float16](To(s, From([]float64{f}), Float16))[0]; uint64(got.Bits()) != hex(t, d.Direct) {
			t.Errorf("float64 %v straight to float16: %04x, want %s", f, got.Bits(), d.Direct)
		}
		if got := Values[float16.Float16](To(s, To(s, From([]float64{f}), Float32), Float16))[0]; uint64(got.Bits()) != hex(t, d.Via) {
			t.Errorf("float64 %v through float32: %04x, want %s", f, got.Bits(), d.Via)
		}
	}
}

// TestConvertAgainstX448 compares all 65,536 float16 values and a spread of float32 bit patterns with the type's own package.
func TestConvertAgainstX448(t *testing.T) {
	for h := range 1 << 16 {
		want := float16.Frombits(uint16(h))
		got := cpu.F16ToF32(uint16(h))
		if want.IsNaN() {
			if got == got {
				t.Fatalf("%04x: %v, want NaN", h, got)
			}
			continue
		}
		if got != want.Float32() || math.Signbit(float64(got)) != want.Signbit() {
			t.Fatalf("%04x: %v, want %v", h, got, want)
		}
	}
	var src [1]float32
	var dst [1]uint16
	for u := uint64(0); u < 1<<32; u += 9973 {
		src[0] = math.Float32frombits(uint32(u))
		cpu.NarrowF16(dst[:], src[:])
		want := float16.Fromfloat32(src[0])
		if dst[0] != want.Bits() && !(want.IsNaN() && float16.Frombits(dst[0]).IsNaN()) {
			t.Fatalf("%08x: %04x, want %04x", u, dst[0], want.Bits())
		}
		if one := cpu.F32ToF16(src[0]); one != dst[0] {
			t.Fatalf("%08x: slice %04x, single %04x", u, dst[0], one)
		}
	}
}
