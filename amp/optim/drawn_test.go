package optim_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/internal/cpu"
	"github.com/halftone-ml/halftone/amp/optim"
)

// onMachine runs f with the kernels of one kind of processor and a number of threads.
func onMachine(v cpu.Variant, threads int, f func()) {
	mode, device := cpu.Current(), amp.SetDefaultDevice("cpu")
	cpu.SetMode(cpu.Mode{Variant: v})
	cpu.SetThreads(threads)
	defer func() {
		cpu.SetMode(mode)
		cpu.SetThreads(0)
		amp.SetDefaultDevice(device)
	}()
	f()
}

// drawnSizes are sizes of many parameters, or of a few large ones: of none and of one element, around vectors, chunks and shares of threads.
func drawnSizes(r *rand.Rand) []int {
	sizes := make([]int, 1+r.IntN(30))
	if r.IntN(3) == 0 {
		sizes = make([]int, 1+r.IntN(3))
	}
	for i := range sizes {
		switch r.IntN(4) {
		case 0:
			sizes[i] = r.IntN(3)
		case 1:
			sizes[i] = max(0, 8<<r.IntN(7)+r.IntN(3)-1)
		default:
			sizes[i] = r.IntN(700)
		}
	}
	if len(sizes) < 4 {
		sizes[0] = 1<<15 + r.IntN(1<<15) - 3
	}
	return sizes
}

// TestDrawnSteps: three steps over many parameters are what the same steps over each number on its own are in float64, with a gradient that
// is not finite somewhere in the second, which must be found wherever it is and change nothing.
func TestDrawnSteps(t *testing.T) {
	names := []string{"sgd", "sgd/momentum", "adam", "adamw/amsgrad", "rmsprop", "adagrad", "nadam", "radam", "adamax", "adadelta", "asgd", "rprop"}
	for seed := range uint64(168) {
		r := rand.New(rand.NewPCG(seed, 1))
		name, fused, dt := names[seed%12], seed/12%2 == 0, []amp.DType{amp.Float32, amp.Float32, amp.Float64}[r.IntN(3)]
		sizes, variants := drawnSizes(r), cpu.Variants()
		variant, threads := variants[r.IntN(len(variants))], 1+r.IntN(3)
		var filled []int // parameters that have elements
		for i, n := range sizes {
			if n > 0 {
				filled = append(filled, i)
			}
		}
		if len(filled) == 0 {
			sizes, filled = append(sizes, 1), []int{len(sizes)}
		}
		worst := filled[r.IntN(len(filled))]
		place := sizes[worst] - 1
		if r.IntN(2) == 0 {
			place = r.IntN(sizes[worst])
		}
		bad := []float64{math.Inf(1), math.Inf(-1), math.NaN()}[r.IntN(3)]
		what := fmt.Sprintf("seed %d: %s fused %v of %v %v on %v with %d threads, %v at %d of parameter %d", seed, name, fused, dt, sizes, variant, threads, bad, place, worst)
		numbers := func(n int) []float64 {
			list := make([]float64, n)
			for i := range list {
				list[i] = float64(float32(0.5+r.Float64())) * float64(1-2*r.IntN(2))
			}
			return list
		}
		var start [][]float64
		grads := make([][][]float64, 3)
		var all []float64
		flat := make([][]float64, 3)
		for _, n := range sizes {
			start = append(start, numbers(n))
			all = append(all, start[len(start)-1]...)
			for k := range grads {
				grads[k] = append(grads[k], numbers(n))
				flat[k] = append(flat[k], grads[k][len(start)-1]...)
			}
		}
		onMachine(variant, threads, func() {
			opts := []optim.Option{optim.LR(0.1)}
			whole := amp.FromFloat64s(amp.Float64, all).RequireGrad()
			exact := makers[name]([]*amp.Tensor{whole}, opts...)
			if fused {
				opts = append(opts, optim.Fused())
			}
			var params []*amp.Tensor
			for i, n := range sizes {
				params = append(params, amp.FromFloat64s(dt, start[i], n).SetName(fmt.Sprint("p", i)).RequireGrad())
			}
			o := makers[name](params, opts...)
			const scale = 4
			scaler := amp.NewGradScaler(amp.InitScale(scale), amp.BackoffFactor(0.99999)) // the product with the inverse is exact, or nearly
			root := amp.NewScope()
			defer root.Close()
			for k := range 3 {
				for i, p := range params {
					g := make([]float64, sizes[i])
					for j, v := range grads[k][i] {
						g[j] = v * scale
					}
					if k == 1 && i == worst {
						g[place] = bad
					}
					p.SetGrad(amp.FromFloat64s(dt, g, sizes[i]))
				}
				scaler.Scale(root, amp.Scalar(float32(1)))
				before := params[worst].Float64s()
				report := scaler.Step(o)
				if applied := report.Applied(); applied != (k != 1) {
					t.Fatalf("%s: step %d: applied %v: %v", what, k, applied, report)
				}
				scaler.Update()
				if k == 1 {
					for j, v := range params[worst].Float64s() {
						if v != before[j] {
							t.Fatalf("%s: a skipped step changed element %d", what, j)
						}
					}
					continue
				}
				whole.SetGrad(amp.FromFloat64s(amp.Float64, flat[k]))
				exact.Step()
			}
			want := whole.Float64s()
			for i, p := range params {
				for j, v := range p.Float64s() {
					if !(math.Abs(v-want[0]) <= 1e-4) { // 0.1 times the difference that the scale after backoff makes, and roundings of float32
						t.Fatalf("%s: element %d of parameter %d is %v, not %v", what, j, i, v, want[0])
					}
					want = want[1:]
				}
			}
		})
	}
}
