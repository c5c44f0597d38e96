package dataset_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/dataset"
	"github.com/halftone-ml/halftone/amp/optim"
)

// A regression on tensors in memory: targets of float32, split at random.
func ExampleNewTensors() {
	root := amp.NewScope(amp.Seed(1))
	defer root.Close()
	x := amp.Randn(root, amp.Float32, 0, 1, 100, 3)
	y := amp.MatMul(root, x, amp.From([]float32{1, 2, 3}, 3, 1))
	parts := dataset.RandomSplit(dataset.NewTensors(x, y), 1, 80, 20)
	w := amp.Zeros(root, amp.Float32, 3, 1).RequireGrad()
	opt := optim.NewSGD([]*amp.Tensor{w}, optim.LR(0.1))
	loader := dataset.NewLoader(parts[0], 16, dataset.Shuffle(1))
	for range 20 {
		for s, b := range loader.Epoch(root) {
			opt.ZeroGrad()
			amp.Mean(s, amp.Square(s, amp.Sub(s, amp.MatMul(s, b.X, w), b.Y))).Backward()
			opt.Step()
		}
	}
	for _, v := range w.Float64s() {
		fmt.Printf("%.2f\n", v)
	}
	// Output:
	// 1.00
	// 2.00
	// 3.00
}

// counted is n samples whose input and target are their number, or hold a target of their own.
type counted struct {
	n     int
	own   int // -1: the target is filled
	dtype amp.DType
}

func (c counted) Len() int { return c.n }
func (c counted) Spec() dataset.Spec {
	return dataset.Spec{Shape: []int{1}, DType: amp.Float32, Target: []int{2}, Targets: c.dtype}
}
func (c counted) Sample(i int, dst *dataset.Sample) error {
	dst.X[0] = float32(i)
	switch {
	case c.own >= 0:
		dst.Values = make([]float32, c.own)
		for k := range dst.Values {
			dst.Values[k] = float32(i) + 0.5
		}
	case c.dtype == amp.Float32:
		dst.Values[0] = float32(i) + 0.5 // and nothing to the other
	default:
		dst.Y[0] = int64(i)
	}
	return nil
}

// TestFloatTargets: batches hold them as float32, zeros where nothing was written, and slices of the dataset's own are copied.
func TestFloatTargets(t *testing.T) {
	root := amp.NewScope()
	defer root.Close()
	for _, own := range []int{-1, 2} {
		l := dataset.NewLoader(counted{5, own, amp.Float32}, 2, dataset.Prefetch(0))
		for epoch := range 2 {
			for s, b := range l.Batches(root) {
				_ = s
				if b.Y.DType() != amp.Float32 || !slices.Equal(b.Y.Shape(), []int{b.Len(), 2}) {
					t.Fatalf("targets are %v %v", b.Y.DType(), b.Y.Shape())
				}
				for k, v := range b.Y.Float64s() {
					want := float64(b.Index[k/2]) + 0.5
					if k%2 == 1 && own < 0 {
						want = 0
					}
					if v != want {
						t.Errorf("epoch %d: target %d of samples %v is %v", epoch, k, b.Index, v)
					}
				}
			}
		}
		if _, ok := l.Dataset().(counted); !ok {
			t.Errorf("the dataset is %T", l.Dataset())
		}
	}
	if err := amp.Maybe(func() { dataset.NewLoader(counted{5, 3, amp.Float32}, 2, dataset.Prefetch(0)).Next(root) }); !errors.Is(err, amp.ErrArgument) {
		t.Errorf("a target of another size: %v", err)
	}
	if err := amp.Maybe(func() { dataset.NewLoader(counted{5, -1, amp.Float16}, 2) }); !errors.Is(err, amp.ErrArgument) {
		t.Errorf("float16: %v", err)
	}
	if b := dataset.NewLoader(counted{5, -1, amp.Int64}, 2).Next(root); b.Y.DType() != amp.Int64 || amp.Values[int64](b.Y)[2] != 1 {
		t.Errorf("integers: %v", b.Y)
	}
}

// TestWeighted: samples come as often as their weights say, to five standard deviations; without replacement none comes twice.
func TestWeighted(t *testing.T) {
	weights := []float64{0, 1, 2, 0, 5, 0}
	const n, epochs = 400, 20
	take := func(l *dataset.Loader, epochs int) (out []int) {
		root := amp.NewScope()
		defer root.Close()
		for range epochs {
			for _, b := range l.Batches(root) {
				out = append(out, b.Index...)
			}
		}
		return out
	}
	counts := make([]int, 6)
	drawn := take(dataset.NewLoader(counted{n: 6, own: -1}, 50, dataset.DrawWeighted(weights, n, 7)), epochs)
	for _, i := range drawn {
		counts[i]++
	}
	for i, w := range weights {
		p := w / 8
		if mean, dev := float64(n*epochs)*p, math.Sqrt(float64(n*epochs)*p*(1-p)); math.Abs(float64(counts[i])-mean) > 5*dev {
			t.Errorf("sample %d of weight %v came %d times of %d", i, w, counts[i], n*epochs)
		}
	}
	if slices.Equal(drawn[:n], drawn[n:2*n]) {
		t.Error("two epochs are the same")
	}
	first := 0
	picks := dataset.NewLoader(counted{n: 6, own: -1}, 3, dataset.PickWeighted(weights, 3, 7))
	const rounds = 2000
	got := take(picks, rounds)
	for k := 0; k < len(got); k += 3 {
		three := slices.Sorted(slices.Values(got[k : k+3]))
		if !slices.Equal(three, []int{1, 2, 4}) {
			t.Fatalf("an epoch is %v", got[k:k+3])
		}
		if got[k] == 4 {
			first++
		}
	}
	if p := 5.0 / 8; math.Abs(float64(first)-rounds*p) > 5*math.Sqrt(rounds*p*(1-p)) {
		t.Errorf("the heaviest came first %d times of %d", first, rounds)
	}
}

// TestWeightedResumes: a loader that is loaded from a state in the middle of an epoch goes on with the same samples; one of another order
// is refused.
func TestWeightedResumes(t *testing.T) {
	weights := []float64{1, 2, 3, 4, 5, 6, 7, 8}
	orders := map[string]dataset.Option{
		"weighted": dataset.DrawWeighted(weights, 20, 3), "weighted, each once": dataset.PickWeighted(weights, 8, 3),
		"shuffled": dataset.Shuffle(3), "drawn": dataset.Draw(20, 3),
	}
	root := amp.NewScope()
	defer root.Close()
	for name, o := range orders {
		l := dataset.NewLoader(counted{n: 8, own: -1}, 3, o)
		for range 5 {
			l.Next(root)
		}
		text, err := json.Marshal(l.State())
		if err != nil {
			t.Fatal(err)
		}
		var st dataset.State
		if err := json.Unmarshal(text, &st); err != nil || st.Order != name {
			t.Fatalf("%v, order %q, want %q", err, st.Order, name)
		}
		for other, o := range orders {
			fresh := dataset.NewLoader(counted{n: 8, own: -1}, 3, o)
			err := fresh.Load(st)
			if (err == nil) != (name == other) {
				t.Errorf("%s loaded into %s: %v", name, other, err)
			}
			if err != nil {
				continue
			}
			for range 6 {
				if a, b := l.Next(root), fresh.Next(root); !slices.Equal(a.Index, b.Index) {
					t.Errorf("%s: %v, resumed %v", name, a.Index, b.Index)
				}
			}
		}
	}
}

// TestRandomSplit: parts share no sample, hold all of them, and depend on the seed alone.
func TestRandomSplit(t *testing.T) {
	data := counted{n: 103, own: -1}
	a, b := dataset.RandomSplit(data, 5, 80, 0, 23), dataset.RandomShares(data, 5, 0.7, 0.2, 0.1)
	for _, parts := range [][]*dataset.Subset{a, b} {
		var all []int
		for _, p := range parts {
			if p.Len() != len(p.Index()) {
				t.Errorf("%d samples, %d numbers", p.Len(), len(p.Index()))
			}
			all = append(all, p.Index()...)
		}
		if slices.IsSorted(all) {
			t.Error("the order is not random")
		}
		slices.Sort(all)
		for i, v := range all {
			if i != v {
				t.Fatalf("samples %v", all)
			}
		}
	}
	if n := []int{b[0].Len(), b[1].Len(), b[2].Len()}; !slices.Equal(n, []int{73, 20, 10}) { // torch's sizes
		t.Errorf("sizes %v", n)
	}
	if !slices.Equal(a[0].Index(), dataset.RandomSplit(data, 5, 80, 23)[0].Index()) || slices.Equal(a[0].Index(), dataset.RandomSplit(data, 6, 80, 23)[0].Index()) {
		t.Error("a split does not depend on the seed alone")
	}
	root := amp.NewScope()
	defer root.Close()
	for k, v := range dataset.NewLoader(a[2], 23).Next(root).X.Float64s() {
		if int(v) != a[2].Index()[k] {
			t.Errorf("sample %d is %v, want %d", k, v, a[2].Index()[k])
		}
	}
}

// TestMoreMisuse: sets, splits and weights that do not fit are an *amp.Error.
func TestMoreMisuse(t *testing.T) {
	data := counted{n: 6, own: -1}
	x, y := amp.From([]float32{1, 2}, 2, 1), amp.From([]int64{1, 2, 3})
	loader := func(o ...dataset.Option) func() { return func() { dataset.NewLoader(data, 2, o...) } }
	for name, f := range map[string]func(){
		"rows":            func() { dataset.NewTensors(x, y) },
		"nil":             func() { dataset.NewTensors(x, nil) },
		"scalar":          func() { dataset.NewTensors(amp.Scalar[float32](1), y) },
		"bool":            func() { dataset.NewTensors(amp.From([]bool{true, false}), x) },
		"subset":          func() { dataset.NewSubset(data, 6) },
		"no dataset":      func() { dataset.NewSubset(nil) },
		"sizes":           func() { dataset.RandomSplit(data, 1, 5, 2) },
		"negative size":   func() { dataset.RandomSplit(data, 1, 7, -1) },
		"shares":          func() { dataset.RandomShares(data, 1, 0.5, 0.4) },
		"share":           func() { dataset.RandomShares(data, 1, math.NaN()) },
		"nil split":       func() { dataset.RandomSplit(nil, 1) },
		"few weights":     loader(dataset.DrawWeighted([]float64{1}, 3, 1)),
		"no weights":      loader(dataset.DrawWeighted(nil, 3, 1)),
		"negative weight": loader(dataset.DrawWeighted([]float64{1, 1, 1, 1, 1, -1}, 3, 1)),
		"all zero":        loader(dataset.DrawWeighted(make([]float64, 6), 3, 1)),
		"too many":        loader(dataset.PickWeighted([]float64{1, 1, 0, 0, 0, 0}, 3, 1)),
		"two orders":      loader(dataset.DrawWeighted([]float64{1, 1, 1, 1, 1, 1}, 3, 1), dataset.Shuffle(1)),
		"two draws":       loader(dataset.DrawWeighted([]float64{1, 1, 1, 1, 1, 1}, 3, 1), dataset.Draw(2, 1)),
		"draws and picks": loader(dataset.Draw(2, 1), dataset.PickWeighted([]float64{1, 1, 1, 1, 1, 1}, 3, 1)),
		"no draws":        func() { dataset.DrawWeighted([]float64{1}, 0, 1) },
	} {
		if err := amp.Maybe(f); !errors.Is(err, amp.ErrArgument) {
			t.Errorf("%s: %v", name, err)
		} else if name == "draws and picks" && !strings.Contains(err.Error(), "Draw and PickWeighted were given") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
