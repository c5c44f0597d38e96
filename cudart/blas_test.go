package cudart_test

import (
	"math"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/cudart"
)

// TestProductsOnLibrary compares products that go through cuBLAS with those of Halftone's kernels: plain, transposed, batched, with a bias.
func TestProductsOnLibrary(t *testing.T) {
	device := gpu(t)
	if _, _, err := cudart.BLAS(device); err != nil {
		t.Skip(err)
	}
	s := amp.NewScope(amp.On(device), amp.Seed(4))
	defer s.Close()
	draw := func(dt amp.DType, shape ...int) *amp.Tensor { return amp.Randn(s, dt, 0, 1, shape...) }
	dtypes := []amp.DType{amp.Float16, amp.BFloat16, amp.Float32, amp.Float64}
	if testing.Short() && strings.Contains(s.Device(), "emulated") {
		dtypes = dtypes[:1] // the others take minutes there
	}
	for _, dt := range dtypes {
		a, b, w, bias := draw(dt, 136, 128), draw(dt, 128, 136), draw(dt, 136, 128), draw(dt, 136)
		batch, other := draw(dt, 3, 2, 72, 136), draw(dt, 3, 2, 136, 72)
		for name, f := range map[string]func() *amp.Tensor{
			"plain":      func() *amp.Tensor { return amp.MatMul(s, a, b) },
			"right":      func() *amp.Tensor { return amp.MatMul(s, a, amp.Transpose(s, w, 0, 1)) },
			"left":       func() *amp.Tensor { return amp.MatMul(s, amp.Transpose(s, b, 0, 1), amp.Transpose(s, w, 0, 1)) },
			"batched":    func() *amp.Tensor { return amp.MatMul(s, batch, other) },
			"swapped":    func() *amp.Tensor { return amp.MatMul(s, amp.Transpose(s, batch, -1, -2), batch) },
			"one matrix": func() *amp.Tensor { return amp.MatMul(s, other, draw(dt, 72, 136)) },
			"bias":       func() *amp.Tensor { return amp.Linear(s, a, w, bias) },
		} {
			at := s.Random().State()
			got := f().Float64s()
			was := cudart.UseBLAS(false)
			s.Random().Load(at)
			want := f().Float64s()
			cudart.UseBLAS(was)
			u := map[amp.DType]float64{amp.Float16: 0x1p-10, amp.BFloat16: 0x1p-7, amp.Float32: 0x1p-17, amp.Float64: 0x1p-46}[dt]
			for i, v := range want {
				if math.Abs(got[i]-v) > u*(math.Abs(v)+4) {
					t.Fatalf("%v %s: element %d is %v, by our kernel %v", dt, name, i, got[i], v)
				}
			}
		}
	}
	if cudart.AllowTF32(true) || !cudart.AllowTF32(false) {
		t.Error("TF32 was not off at first")
	}
}
