package amp

import (
	"fmt"
	"slices"
	"testing"
)

// cutouts are layouts of queries, keys and values in one tensor, with the order in which its dimensions become
// [3 batch heads positions features].
var cutouts = map[string]struct {
	shape, order []int
}{
	"projection":     {[]int{2, 5, 3, 4, 8}, []int{2, 0, 3, 1, 4}},
	"head by head":   {[]int{2, 5, 4, 3, 8}, []int{3, 0, 2, 1, 4}},
	"behind":         {[]int{3, 2, 4, 5, 8}, []int{0, 1, 2, 3, 4}},
	"positions last": {[]int{2, 3, 4, 5, 8}, []int{1, 0, 2, 3, 4}},
	"one sequence":   {[]int{1, 5, 3, 4, 8}, []int{2, 0, 3, 1, 4}},
	"one head":       {[]int{2, 5, 3, 1, 8}, []int{2, 0, 3, 1, 4}},
	"one position":   {[]int{2, 1, 3, 4, 8}, []int{2, 0, 3, 1, 4}},
	"turned":         {[]int{2, 3, 4, 8, 5}, []int{1, 0, 2, 4, 3}},
	"long":           {[]int{1, 70, 3, 2, 16}, []int{2, 0, 3, 1, 4}},
}

// TestAttentionLiesAsItsInputs: the result lies as the queries do, and gradients of parts of one tensor as those; all numbers are those of
// tensors without gaps, and nothing is copied.
func TestAttentionLiesAsItsInputs(t *testing.T) {
	for name, c := range cutouts {
		for _, dt := range []DType{Float64, Float32, Float16, BFloat16} {
			for _, masked := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s %v mask %v", name, dt, masked), func(t *testing.T) {
					run := func(apart bool) (out [][]float64, ops []string) {
						root := NewScope(Record(Decisions), Seed(3))
						defer root.Close()
						x := To(root, Randn(root, Float32, 0, 1, c.shape...), dt)
						leaf := Detach(root, x).RequireGrad()
						dy := To(root, Randn(root, Float32, 0, 1, c.shape...), dt)
						dy = Select(root, Permute(root, dy, c.order...), 0, 1)
						var mask *Tensor
						if n := c.shape[c.order[3]]; masked {
							mask = To(root, Randn(root, Float32, 0, 1, n, n), dt).RequireGrad()
						}
						for s := range root.Steps(1) {
							y := Permute(s, AddScalar(s, leaf, 0), c.order...)
							var part [3]*Tensor
							for i := range part {
								if part[i] = Select(s, y, 0, i); apart {
									part[i] = AddScalar(s, Contiguous(s, part[i]), 0)
								}
							}
							at := ScaledDotProductAttention(s, part[0], part[1], part[2], mask, Attention{Dropout: 0.1})
							if back := slices.Index(c.order[1:], 4); !apart && back == 3 && !slices.Equal(at.strides, attentionStrides(part[0])) {
								t.Errorf("strides %v of the result, %v of the queries", at.strides, part[0].strides)
							}
							at.Backward(GradOutputs(dy))
							out = append(out, at.Float64s(), leaf.Grad().Float64s())
							if masked {
								out = append(out, mask.Grad().Float64s())
							}
						}
						for _, e := range root.Trace().Events {
							ops = append(ops, e.Op)
						}
						return out, ops
					}
					want, _ := run(true)
					got, ops := run(false)
					for i := range want {
						if !slices.Equal(want[i], got[i]) {
							t.Errorf("result %d differs from that of tensors without gaps", i)
						}
					}
					if copies := slices.Contains(ops, "cat") || slices.Contains(ops, "contiguous"); copies {
						t.Errorf("ops %v", ops)
					}
				})
			}
		}
	}
}

// attentionStrides are those of a tensor without gaps whose dimensions lie in the order of q's.
func attentionStrides(q *Tensor) []int {
	order := attentionOrder(&Call{In: []*Tensor{q}}, q.shape)
	x := alloc("test", theCPU, q.dt, q.shape)
	defer x.release()
	x.arrange(order)
	return x.strides
}

// TestAttentionOrder: whatever the queries' strides are, the features of a row of the result lie side by side.
func TestAttentionOrder(t *testing.T) {
	s := NewScope(Seed(1))
	defer s.Close()
	x := Randn(s, Float32, 0, 1, 2, 3, 5, 4)
	for name, c := range map[string]struct {
		q    *Tensor
		want []int // strides of the result [… 6]
	}{
		"row-major":      {x, []int{90, 30, 6, 1}},
		"heads turned":   {Transpose(s, x, 1, 2), []int{90, 6, 30, 1}},
		"features apart": {Transpose(s, x, 2, 3), []int{72, 24, 6, 1}},
		"expanded":       {Expand(s, Narrow(s, x, 1, 0, 1), 2, 3, 5, 4), []int{90, 30, 6, 1}},
		"batch inside":   {Permute(s, x, 1, 2, 0, 3), []int{30, 6, 90, 1}},
	} {
		r := c.q.shape
		v := Randn(s, Float32, 0, 1, r[0], r[1], 7, 6)
		k := Randn(s, Float32, 0, 1, r[0], r[1], 7, r[3])
		if y := ScaledDotProductAttention(s, c.q, k, v, nil, Attention{}); !slices.Equal(y.strides, c.want) {
			t.Errorf("%s: strides %v, want %v", name, y.strides, c.want)
		}
	}
}

// TestAttentionSecondDerivative: gradients that lie side by side can be differentiated again.
func TestAttentionSecondDerivative(t *testing.T) {
	run := func(apart bool) []float64 {
		s := NewScope(Seed(3))
		defer s.Close()
		x := Randn(s, Float64, 0, 1, 2, 5, 3, 2, 4).RequireGrad()
		var part [3]*Tensor
		for i := range part {
			if part[i] = Transpose(s, Select(s, x, 2, i), 1, 2); apart {
				part[i] = Contiguous(s, part[i])
			}
		}
		y := ScaledDotProductAttention(s, part[0], part[1], part[2], nil, Attention{Causal: true})
		g := Grad(s, []*Tensor{Sum(s, Mul(s, y, y))}, []*Tensor{x}, CreateGraph())[0]
		return Grad(s, []*Tensor{Sum(s, Mul(s, g, g))}, []*Tensor{x})[0].Float64s()
	}
	want, got := run(true), run(false)
	for i, v := range want {
		if d := v - got[i]; !(d*d < 1e-20*(1+v*v)) {
			t.Fatalf("element %d is %v, want %v", i, got[i], v)
		}
	}
}
