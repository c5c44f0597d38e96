package amp

import (
	"errors"
	"fmt"
	"math"
	"testing"
)

// layerOf runs a layer of the kind and returns y and what it ended with.
func layerOf(s *Scope, kind string, in []*Tensor, w CellWeights, reverse bool) []*Tensor {
	if kind == "gru" {
		y, h := GRU(s, in[0], in[1], w, reverse)
		return []*Tensor{y, h}
	}
	y, h, c := LSTM(s, in[0], in[1], in[2], w, reverse)
	return []*Tensor{y, h, c}
}

// layerInputs draws x, the states, and weights and biases as nn does; k is the place of the first weight.
func layerInputs(s *Scope, kind string, steps, batch, features, hidden int) (in []*Tensor, k int) {
	gates := 4
	shapes := [][]int{{steps, batch, features}, {batch, hidden}, {batch, hidden}}
	if kind == "gru" {
		gates, shapes = 3, shapes[:2]
	}
	k = len(shapes)
	shapes = append(shapes, []int{gates * hidden, features}, []int{gates * hidden, hidden}, []int{gates * hidden}, []int{gates * hidden})
	for i, shape := range shapes {
		bound := 1.0
		if i >= k {
			bound = 1 / math.Sqrt(float64(hidden))
		}
		in = append(in, Rand(s, Float32, -bound, bound, shape...))
	}
	return in, k
}

// apartBy is |a - b| over |b|, as vectors.
func apartBy(a, b []float64) float64 {
	var diff, size float64
	for i, v := range b {
		diff += (a[i] - v) * (a[i] - v)
		size += v * v
	}
	return math.Sqrt(diff / max(size, 1e-300))
}

// TestWholeLayers compares layers that are one node of the graph with the same layers step by step in float64: results and the gradients of all
// inputs, at sizes that are multiples of nothing, in both directions. There are at most ten roundings between the products of two steps, each
// of relative size u, and steps neither add to nor take from the size of a gradient by much: as vectors, results are within 10·steps·u.
func TestWholeLayers(t *testing.T) { sameOnAnyThreads(t, checkWholeLayers) }

func checkWholeLayers() string {
	hash := uint64(0)
	unit := map[DType]float64{Float64: 0x1p-50, Float32: 0x1p-24, Float16: 0x1p-11, BFloat16: 0x1p-8}
	for i, size := range [][4]int{{3, 65, 5, 33}, {2, 1, 3, 131}, {1, 37, 17, 130}, {5, 67, 21, 45}, {4, 3, 2, 1}, {3, 0, 2, 5}} {
		for _, kind := range []string{"lstm", "gru"} {
			for _, dt := range []DType{Float64, Float32, Float16, BFloat16} {
				reverse := i%2 == 1
				if size[0]%2 == 1 && dt != Float32 {
					reverse = !reverse
				}
				hash = hash*31 + wholeLayer1(fmt.Sprintf("%s %v %v reverse %v", kind, size, dt, reverse), kind, size, dt, reverse, 10*float64(size[0])*unit[dt])
			}
		}
	}
	return fmt.Sprint(hash)
}

func wholeLayer1(name, kind string, size [4]int, dt DType, reverse bool, bound float64) uint64 {
	root := NewScope(Seed(uint64(size[0]*size[1] + size[3])))
	defer root.Close()
	drawn, k := layerInputs(root, kind, size[0], size[1], size[2], size[3])
	var in, exact []*Tensor
	for _, x := range drawn {
		x = To(root, x, dt)
		in = append(in, Detach(root, x).RequireGrad())
		exact = append(exact, Detach(root, To(root, x, Float64)).RequireGrad())
	}
	weights := func(in []*Tensor) CellWeights { return CellWeights{in[k], in[k+1], in[k+2], in[k+3]} }
	got := layerOf(root, kind, in, weights(in), reverse)
	r := map[string]*recurrence{"lstm": &lstm, "gru": &gru}[kind]
	y, states := r.stepwise(root, exact[0], exact[1:k], weights(exact), reverse)
	want := append([]*Tensor{y}, states...)
	var dy, dExact []*Tensor
	for _, t := range want {
		d := To(root, Randn(root, Float32, 0, 1, t.shape...), dt)
		dy, dExact = append(dy, d), append(dExact, To(root, d, Float64))
	}
	grads, exactGrads := Grad(root, got, in, GradOutputs(dy...)), Grad(root, want, exact, GradOutputs(dExact...))
	hash := uint64(0)
	for i, t := range append(got, grads...) {
		v := t.Float64s()
		if d := apartBy(v, append(want, exactGrads...)[i].Float64s()); !(d <= bound) {
			panic(fmt.Sprintf("%s: result or gradient %d of shape %v is %.3g away, bound %.3g", name, i, t.shape, d, bound))
		}
		for _, x := range v {
			hash = hash*31 + math.Float64bits(x)
		}
	}
	return hash
}

// TestWholeLayerGraph: a gradient of the last cell state alone, a graph that is walked twice, inputs that want no gradient, and a checkpointed layer.
func TestWholeLayerGraph(t *testing.T) {
	for _, kind := range []string{"lstm", "gru"} {
		root := NewScope(Seed(5))
		in, k := layerInputs(root, kind, 4, 3, 5, 6)
		in[0].RequireGrad()
		in[k+1].RequireGrad()
		wanted := []*Tensor{in[0], in[k+1]}
		run := func(s *Scope, x ...*Tensor) *Tensor {
			out := layerOf(s, kind, append([]*Tensor{x[0]}, in[1:]...), CellWeights{in[k], x[1], in[k+2], in[k+3]}, false)
			return Sum(s, out[len(out)-1])
		}
		loss := run(root, wanted...)
		first := Grad(root, []*Tensor{loss}, wanted, RetainGraph())
		again := Grad(root, []*Tensor{loss}, wanted)
		replayed := Grad(root, []*Tensor{Checkpoint(root, run, wanted...)}, wanted)
		exact := make([]*Tensor, len(in))
		for i, x := range in {
			exact[i] = To(root, x, Float64)
		}
		_, states := map[string]*recurrence{"lstm": &lstm, "gru": &gru}[kind].stepwise(root, exact[0], exact[1:k], CellWeights{exact[k], exact[k+1], exact[k+2], exact[k+3]}, false)
		want := Grad(root, []*Tensor{Sum(root, states[len(states)-1])}, wanted)
		for i := range wanted {
			for name, g := range map[string]*Tensor{"first": first[i], "second walk": again[i], "checkpointed": replayed[i]} {
				if d := apartBy(g.Float64s(), want[i].Float64s()); !(d <= 10*4*0x1p-24) {
					t.Errorf("%s: gradient %d, %s: %.3g away", kind, i, name, d)
				}
			}
		}
		for i, want := range map[int]bool{k: true, k + 1: true, k + 2: false} { // backward reads the weights, not the biases
			loss = run(root, wanted...)
			CopyInPlace(root.NoGrad(), in[i], in[i])
			if err := Maybe(func() { loss.Backward() }); (err != nil) != want || err != nil && !errors.Is(err, ErrStale) {
				t.Errorf("%s: input %d changed before backward: %v", kind, i, err)
			}
		}
		root.Close()
	}
}
