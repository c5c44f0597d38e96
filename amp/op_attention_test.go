package amp

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
)

// attentionByHand is the definition, in float64, of one matrix; allowed says which keys a query sees, bias what is added.
func attentionByHand(q, k, v []float64, T, S, d, e int, scale float64, score func(i, j int) float64) []float64 {
	out := make([]float64, T*e)
	for i := range T {
		p, sum := make([]float64, S), 0.0
		for j := range S {
			dot := 0.0
			for x := range d {
				dot += q[i*d+x] * k[j*d+x]
			}
			p[j] = math.Exp(dot*scale + score(i, j))
			sum += p[j]
		}
		for j := range S {
			for x := range e {
				if sum > 0 {
					out[i*e+x] += p[j] / sum * v[j*e+x]
				}
			}
		}
	}
	return out
}

// TestAttentionBlocks compares sizes below, at and above the blocks of the kernel with the definition, in every dtype.
func TestAttentionBlocks(t *testing.T) {
	root := NewScope(Seed(2))
	defer root.Close()
	for _, c := range []struct {
		T, S   int
		causal bool
	}{{1, 1, false}, {63, 256, false}, {64, 257, true}, {65, 600, false}, {200, 150, true}, {130, 700, true}, {3, 0, false}, {0, 3, false}} {
		const d, e = 5, 3
		q, k, v := Randn(root, Float64, 0, 2, 2, c.T, d), Randn(root, Float64, 0, 2, 2, c.S, d), Randn(root, Float64, 0, 1, 2, c.S, e)
		for dt, eps := range map[DType]float64{Float64: 1e-14, Float32: 2e-6, BFloat16: 0x1p-8, Float16: 0x1p-10} {
			in := [3]*Tensor{To(root, q, dt), To(root, k, dt), To(root, v, dt)}
			got := ScaledDotProductAttention(root, in[0], in[1], in[2], nil, Attention{Causal: c.causal})
			if got.dt != dt || !slices.Equal(got.shape, []int{2, c.T, e}) {
				t.Fatalf("%v: %v %v", c, got.dt, got.shape)
			}
			values := got.Float64s()
			for n := range 2 {
				part := func(i, size int) []float64 { return in[i].Float64s()[n*size : (n+1)*size] }
				want := attentionByHand(part(0, c.T*d), part(1, c.S*d), part(2, c.S*e), c.T, c.S, d, e, 1/math.Sqrt(d), func(i, j int) float64 {
					if c.causal && j > i {
						return math.Inf(-1)
					}
					return 0
				})
				for i, w := range want {
					if g := values[n*c.T*e+i]; !(math.Abs(g-w) <= eps*(1+math.Abs(w))) {
						t.Fatalf("%v %v matrix %d element %d: %v, want %v", c, dt, n, i, g, w)
					}
				}
			}
		}
	}
}

// composed is attention of other rows, for its gradients.
func composed(s *Scope, q, k, v, bias *Tensor) *Tensor {
	scores := MulScalar(s, MatMul(s, q, Transpose(s, k, -1, -2)), 1/math.Sqrt(float64(q.Dim(-1))))
	return MatMul(s, Softmax(s, Add(s, scores, bias), -1), v)
}

// TestAttentionGradientBlocks compares gradients over several blocks with those of the composed form.
func TestAttentionGradientBlocks(t *testing.T) {
	root := NewScope(Seed(3))
	defer root.Close()
	for _, c := range []struct {
		T, S   int
		causal bool
	}{{70, 300, false}, {130, 270, true}, {64, 256, true}, {20, keptKeys + 47, false}} {
		q, k, v := Randn(root, Float64, 0, 1, 2, 2, c.T, 4).RequireGrad(), Randn(root, Float64, 0, 1, 2, 1, c.S, 4).RequireGrad(), Randn(root, Float64, 0, 1, 2, 2, c.S, 3).RequireGrad()
		bias := Randn(root, Float64, 0, 1, c.T, c.S)
		data := bias.Float64s()
		for i := range data {
			if c.causal && i%c.S > i/c.S || !c.causal && i/c.S%3 == 0 && i%c.S < keyBlock { // a query may see no key of the first block
				data[i] = math.Inf(-1)
			}
		}
		if c.causal {
			for i := range data {
				if !math.IsInf(data[i], 0) {
					data[i] = 0
				}
			}
		}
		bias.setFloat64s(data)
		leaves := []*Tensor{q, k, v}
		if !c.causal {
			leaves = append(leaves, bias.RequireGrad())
		}
		want := Grad(root, []*Tensor{project(root, composed(root, q, k, v, bias), 5)}, leaves)
		var got []*Tensor
		if c.causal {
			got = Grad(root, []*Tensor{project(root, ScaledDotProductAttention(root, q, k, v, nil, Attention{Causal: true}), 5)}, leaves)
		} else {
			got = Grad(root, []*Tensor{project(root, ScaledDotProductAttention(root, q, k, v, bias, Attention{}), 5)}, leaves)
		}
		for i, w := range want {
			g := got[i].Float64s()
			for x, y := range w.Float64s() {
				if !(math.Abs(g[x]-y) <= 1e-10*(1+math.Abs(y))) {
					t.Fatalf("%v: input %d element %d: %v, want %v", c, i, x, g[x], y)
				}
			}
		}
	}
}

// TestAttentionEdges: a query without keys gives zeros and no gradient, NaN is not lost, and large scores do not overflow.
func TestAttentionEdges(t *testing.T) {
	root := NewScope()
	defer root.Close()
	q, k, v := From([]float32{1, 0}, 2, 1).RequireGrad(), From([]float32{2, 3}, 2, 1), From([]float32{5, 7}, 2, 1)
	mask := From([]bool{false, false, true, false}, 2, 2)
	y := ScaledDotProductAttention(root, q, k, v, mask, Attention{})
	if got := y.Float64s(); !slices.Equal(got, []float64{0, 5}) {
		t.Error(got)
	}
	Sum(root, y).Backward()
	if got := q.Grad().Float64s(); !slices.Equal(got, []float64{0, 0}) {
		t.Error(got)
	}
	big := From([]float32{1e4, 1e4}, 2, 1)
	if got := ScaledDotProductAttention(root, big, big, v, nil, Attention{}).Float64s(); !slices.Equal(got, []float64{6, 6}) {
		t.Error(got)
	}
	bad := From([]float32{float32(math.NaN()), 1}, 2, 1)
	if got := ScaledDotProductAttention(root, bad, k, v, nil, Attention{}).Float64s(); !math.IsNaN(got[0]) || math.IsNaN(got[1]) {
		t.Error(got)
	}
	if got := ScaledDotProductAttention(root, q, bad, v, nil, Attention{Causal: true}).Float64s(); !math.IsNaN(got[0]) || !math.IsNaN(got[1]) {
		t.Error(got)
	}
}

// TestAttentionSoftmaxIsFloat32: half scores would lose what tells two keys apart.
func TestAttentionSoftmaxIsFloat32(t *testing.T) {
	root := NewScope()
	defer root.Close()
	// Scores 2049 and 2050 are one number in float16.
	q := FromFloat64s(Float16, []float64{1, 1}, 1, 2)
	k := FromFloat64s(Float16, []float64{2048, 1, 2048, 2}, 2, 2)
	v := FromFloat64s(Float16, []float64{0, 1}, 2, 1)
	y := ScaledDotProductAttention(root, q, k, v, nil, Attention{Scale: 1})
	if want := 1 / (1 + math.Exp(-1)); math.Abs(y.Item()-want) > 0x1p-11 || y.dt != Float16 {
		t.Errorf("%v %v, want %v", y.dt, y.Item(), want)
	}
}

// TestAttentionUnderAutocast: one op in the lower dtype, whose additive mask is cast too.
func TestAttentionUnderAutocast(t *testing.T) {
	root := NewScope(Seed(1), Record(Decisions))
	defer root.Close()
	q, mask := Randn(root, Float32, 0, 1, 2, 3, 4), Randn(root, Float32, 0, 1, 3, 3)
	y := ScaledDotProductAttention(root.Autocast(BFloat16), q, q, q, mask, Attention{})
	made, _ := casts(root)
	if y.dt != BFloat16 || made != 4 {
		t.Errorf("%v after %d casts", y.dt, made)
	}
	again := ScaledDotProductAttention(root, To(root, q, BFloat16), To(root, q, BFloat16), To(root, q, BFloat16), To(root, mask, BFloat16), Attention{})
	if !slices.Equal(y.Float64s(), again.Float64s()) {
		t.Error("differs from the op on cast inputs")
	}
}

func TestGroupedAttention(t *testing.T) {
	root := NewScope(Seed(5))
	defer root.Close()
	q, k, v := Randn(root, Float64, 0, 1, 2, 6, 3, 4), Randn(root, Float64, 0, 1, 2, 2, 5, 4), Randn(root, Float64, 0, 1, 2, 2, 5, 4)
	mask := Randn(root, Float64, 0, 1, 2, 6, 3, 5)
	repeat := func(x *Tensor) *Tensor { // head h of q uses head h/3 of k and v
		var heads []*Tensor
		for h := range 6 {
			heads = append(heads, Narrow(root, x, 1, h/3, 1))
		}
		return Cat(root, 1, heads...)
	}
	for name, m := range map[string]*Tensor{"none": nil, "all": mask, "one head": Narrow(root, mask, 1, 0, 1)} {
		got := ScaledDotProductAttention(root, q, k, v, m, Attention{Grouped: true})
		want := ScaledDotProductAttention(root, q, repeat(k), repeat(v), m, Attention{})
		if !slices.Equal(got.shape, want.shape) || !slices.Equal(got.Float64s(), want.Float64s()) {
			t.Errorf("%s: grouped heads differ from repeated ones", name)
		}
	}
}

func TestAttentionRefusals(t *testing.T) {
	root := NewScope()
	defer root.Close()
	x := func(shape ...int) *Tensor { return Full(root, Float32, 1, shape...) }
	call := func(q, k, v, m *Tensor, o Attention) func() {
		return func() { ScaledDotProductAttention(root, q, k, v, m, o) }
	}
	for name, c := range map[string]struct {
		call func()
		kind error
	}{
		"vector":        {call(x(3), x(2, 3), x(2, 3), nil, Attention{}), ErrShape},
		"features":      {call(x(2, 3), x(2, 4), x(2, 3), nil, Attention{}), ErrShape},
		"positions":     {call(x(2, 3), x(4, 3), x(2, 3), nil, Attention{}), ErrShape},
		"batch":         {call(x(2, 2, 3), x(3, 2, 3), x(2, 3), nil, Attention{}), ErrShape},
		"dtype":         {call(x(2, 3), To(root, x(2, 3), Float16), x(2, 3), nil, Attention{}), ErrDType},
		"integers":      {call(From([]int64{1}, 1, 1), From([]int64{1}, 1, 1), From([]int64{1}, 1, 1), nil, Attention{}), ErrDType},
		"mask shape":    {call(x(2, 3), x(2, 3), x(2, 3), x(3, 2), Attention{}), ErrShape},
		"mask dtype":    {call(x(2, 3), x(2, 3), x(2, 3), From([]int64{1, 1}), Attention{}), ErrDType},
		"mask widens":   {call(x(1, 3), x(2, 3), x(2, 3), x(4, 2), Attention{}), ErrShape},
		"causal, mask":  {call(x(2, 3), x(2, 3), x(2, 3), x(2, 2), Attention{Causal: true}), ErrArgument},
		"heads":         {call(x(3, 2, 3), x(2, 2, 3), x(2, 2, 3), nil, Attention{Grouped: true}), ErrShape},
		"heads of k, v": {call(x(4, 2, 3), x(2, 2, 3), x(4, 2, 3), nil, Attention{Grouped: true}), ErrShape},
	} {
		if err := Maybe(c.call); !errors.Is(err, c.kind) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func BenchmarkAttention(b *testing.B) {
	for _, dt := range []DType{Float32, Float16, BFloat16} {
		for _, causal := range []bool{false, true} {
			name := fmt.Sprintf("%v/8x128x64", dt)
			if causal {
				name += "/causal"
			}
			root := NewScope(Seed(1))
			x := func() *Tensor { return Randn(root, dt, 0, 1, 8, 128, 64).RequireGrad() }
			q, k, v, dy := x(), x(), x(), Randn(root, dt, 0, 1, 8, 128, 64)
			b.Run("forward/"+name, func(b *testing.B) {
				for range b.N {
					s := root.Child()
					ScaledDotProductAttention(s.NoGrad(), q, k, v, nil, Attention{Causal: causal})
					s.Close()
				}
			})
			b.Run("backward/"+name, func(b *testing.B) {
				for range b.N {
					b.StopTimer()
					s := root.Child()
					y := ScaledDotProductAttention(s, q, k, v, nil, Attention{Causal: causal})
					b.StartTimer()
					Grad(s, []*Tensor{y}, []*Tensor{q, k, v}, GradOutputs(dy))
					s.Close()
				}
			})
			root.Close()
		}
	}
}

// TestAttentionThreads compares the bits of result and gradients between processes with one worker and with several.
func TestAttentionThreads(t *testing.T) {
	sameOnAnyThreads(t, func() string {
		root := NewScope(Seed(8))
		defer root.Close()
		h := sha256.New()
		for _, dt := range []DType{Float16, BFloat16, Float32} {
			q, k, v := Randn(root, dt, 0, 1, 3, 150, 16).RequireGrad(), Randn(root, dt, 0, 1, 3, 300, 16).RequireGrad(), Randn(root, dt, 0, 1, 3, 300, 8).RequireGrad()
			y := ScaledDotProductAttention(root, q, k, v, nil, Attention{})
			project(root, y, 3).Backward()
			fmt.Fprintln(h, y.Float64s(), q.Grad().Float64s(), k.Grad().Float64s(), v.Grad().Float64s())

			x := Randn(root, dt, 0, 1, 20, 135, 7).RequireGrad() // several blocks of queries to a task
			y = ScaledDotProductAttention(root, x, x, x, nil, Attention{Causal: true})
			project(root, y, 4).Backward()
			fmt.Fprintln(h, y.Float64s(), x.Grad().Float64s())
		}
		return fmt.Sprintf("%x", h.Sum(nil))
	})
}

// TestAttentionDropout: the weights are dropped that amp.Dropout drops of the softmax, none in an Eval scope, all for p = 1.
func TestAttentionDropout(t *testing.T) {
	root := NewScope(Seed(12))
	defer root.Close()
	for _, c := range []struct {
		dt    DType
		keys  int // of an odd number, rows begin within a block of random numbers
		bound float64
	}{{Float64, 300, 1e-12}, {Float64, 77, 1e-12}, {Float32, 300, 1e-5}, {Float32, 301, 1e-5}, {Float32, 77, 1e-5}, {Float32, 3, 1e-5}} {
		q, k, v := Randn(root, c.dt, 0, 1, 2, 70, 4), Randn(root, c.dt, 0, 1, 2, c.keys, 4), Randn(root, c.dt, 0, 1, 2, c.keys, 3)
		dy := Randn(root, c.dt, 0, 1, 2, 70, 3)
		at := root.Random().State()
		run := func(f func(q, k, v *Tensor) *Tensor) (out [][]float64) {
			root.Random().Load(at)
			leaves := []*Tensor{q.leafAs(root, c.dt), k.leafAs(root, c.dt), v.leafAs(root, c.dt)}
			y := f(leaves[0], leaves[1], leaves[2])
			y.Backward(GradOutputs(dy))
			out = append(out, y.Float64s())
			for _, x := range leaves {
				out = append(out, x.Grad().Float64s())
			}
			return out
		}
		got := run(func(q, k, v *Tensor) *Tensor {
			return ScaledDotProductAttention(root, q, k, v, nil, Attention{Dropout: 0.25})
		})
		after := root.Random().State()
		want := run(func(q, k, v *Tensor) *Tensor {
			p := Softmax(root, MulScalar(root, MatMul(root, q, Transpose(root, k, -1, -2)), 0.5), -1)
			return MatMul(root, Dropout(root, p, 0.25), v)
		})
		if root.Random().State() != after {
			t.Errorf("%v, %d keys: another number of random numbers", c.dt, c.keys)
		}
		for n := range want {
			for i, w := range want[n] {
				if !(math.Abs(got[n][i]-w) <= c.bound*(1+math.Abs(w))) {
					t.Fatalf("%v, %d keys: result %d, element %d: %v, want %v", c.dt, c.keys, n, i, got[n][i], w)
				}
			}
		}
	}
	q, k, v := Randn(root, Float64, 0, 1, 2, 70, 4), Randn(root, Float64, 0, 1, 2, 300, 4), Randn(root, Float64, 0, 1, 2, 300, 3)
	plain := ScaledDotProductAttention(root, q, k, v, nil, Attention{})
	if eval := ScaledDotProductAttention(root.Eval(), q, k, v, nil, Attention{Dropout: 0.25}); !slices.Equal(eval.Float64s(), plain.Float64s()) {
		t.Error("dropped in evaluation")
	}
	for _, w := range ScaledDotProductAttention(root, q, k, v, nil, Attention{Dropout: 1}).Float64s() {
		if w != 0 {
			t.Fatal("not all dropped")
		}
	}
	if err := Maybe(func() { ScaledDotProductAttention(root, q, k, v, nil, Attention{Dropout: 1.5}) }); !errors.Is(err, ErrArgument) {
		t.Error(err)
	}
}
