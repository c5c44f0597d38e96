package nn_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/nn"
)

// Words of two texts, one after another, as one vector for each text.
func ExampleEmbeddingBag() {
	root := amp.NewScope(amp.Seed(1))
	defer root.Close()
	bag := nn.NewEmbeddingBag(root, 4, 2, nn.MeanBag, nn.PaddingRow(0))
	amp.SetValues(bag.Weight, []float32{0, 0, 1, 10, 2, 20, 3, 30})
	fmt.Println(bag)
	words, begins := amp.From([]int64{1, 2, 0, 3}), amp.From([]int64{0, 3})
	fmt.Println(bag.Run(root, words, begins, nil).Float64s())
	fmt.Println(bag.Forward(root, amp.From([]int64{1, 2, 3, 3}, 2, 2)).Float64s())
	// Output:
	// EmbeddingBag(weight=[4 2], mode=mean)
	// [1.5 15 3 30]
	// [1.5 15 3 30]
}

// torchBag is a case of testdata/torch_embedding_bag.json.
type torchBag struct {
	Name, Mode          string
	Padding             *int
	MaxNorm             float64 `json:"max_norm"`
	Index               []int64
	Shape               []int
	Offsets             []int64
	Last, Weights       bool
	State               [][2]any
	Y, Weight, Grad     []float64
	YShape              []int     `json:"y_shape"`
	WeightsGrad         []float64 `json:"weights_grad"`
	offsets, per, index *amp.Tensor
}

var bagModes = map[string]nn.BagMode{"mean": nn.MeanBag, "sum": nn.SumBag, "max": nn.MaxBag}

// make returns the case's layer, and its inputs within it.
func (c *torchBag) make(t *testing.T, s *amp.Scope) *nn.EmbeddingBag {
	t.Helper()
	var opts []nn.EmbeddingOption
	if c.Padding != nil {
		opts = append(opts, nn.PaddingRow(*c.Padding))
	}
	if c.MaxNorm != 0 {
		opts = append(opts, nn.MaxNorm(c.MaxNorm))
	}
	if c.Last {
		opts = append(opts, nn.LastOffset())
	}
	e := nn.NewEmbeddingBag(s, 9, 4, bagModes[c.Mode], opts...)
	prepare(t, e, c.State)
	c.index = amp.From(c.Index, c.Shape...)
	if c.Offsets != nil {
		c.offsets = amp.From(c.Offsets, len(c.Offsets))
	}
	if c.Weights {
		c.per = filled(7, c.Shape...).RequireGrad()
	}
	return e
}

// TestEmbeddingBagAsTorch compares results, tables and gradients; in float32, alone and under autocast, which changes nothing.
func TestEmbeddingBagAsTorch(t *testing.T) {
	cases := readData[struct{ Cases []*torchBag }](t, "torch_embedding_bag.json").Cases
	if len(cases) == 0 {
		t.Fatal("no cases")
	}
	for _, c := range cases {
		for _, half := range []bool{false, true} {
			root := amp.NewScope(amp.Seed(1))
			e, s := c.make(t, root), root
			if half {
				s = root.Autocast(amp.Float16)
			}
			y := e.Run(s, c.index, c.offsets, c.per)
			if !slices.Equal(y.Shape(), c.YShape) || y.DType() != amp.Float32 || !near(y.Float64s(), c.Y, 1e-6) || !near(e.Weight.Float64s(), c.Weight, 1e-6) {
				t.Errorf("%s: %v %v %v of the table %v, torch has %v %v of %v", c.Name, y.DType(), y.Shape(), y.Float64s(), e.Weight.Float64s(), c.YShape, c.Y, c.Weight)
			}
			if y.Len() > 0 {
				weighted(root, y).Backward()
				if g := e.Weight.Grad().Float64s(); !near(g, c.Grad, 1e-6) {
					t.Errorf("%s: gradient %v, torch has %v", c.Name, g, c.Grad)
				}
			}
			if c.Weights && y.Len() > 0 && !near(c.per.Grad().Float64s(), c.WeightsGrad, 1e-6) {
				t.Errorf("%s: gradient of the weights %v, torch has %v", c.Name, c.per.Grad().Float64s(), c.WeightsGrad)
			}
			root.Close()
		}
	}
}

// TestEmbeddingBagOfHalves: of a table in halves the result is what float64 makes of the same numbers, rounded once.
func TestEmbeddingBagOfHalves(t *testing.T) {
	root := amp.NewScope(amp.Seed(3))
	defer root.Close()
	index, offsets := amp.RandInt(root, 0, 50, 300), amp.From([]int64{0, 250, 250})
	for name, mode := range bagModes {
		e, exact := nn.NewEmbeddingBag(root, 50, 8, mode), nn.NewEmbeddingBag(root, 50, 8, mode)
		numbers := amp.Randn(root, amp.Float16, 0, 1, 50, 8)
		e.Weight = amp.Clone(root, numbers).SetName("weight").RequireGrad()
		exact.Weight = amp.To(root, numbers, amp.Float64)
		y, want := e.Run(root.Autocast(amp.BFloat16), index, offsets, nil), exact.Run(root, index, offsets, nil)
		rounded := amp.To(root, want, amp.Float16).Float64s()
		for i, v := range y.Float64s() {
			if y.DType() != amp.Float16 || math.Abs(v-want.Float64s()[i]) > math.Abs(rounded[i]-want.Float64s()[i])+1e-6*math.Abs(v) {
				t.Errorf("%s: %v %v at %d, in float64 %v", name, y.DType(), v, i, want.Float64s()[i])
			}
		}
		amp.Sum(root, amp.To(root, y, amp.Float32)).Backward()
		if g := e.Weight.Grad(); g.DType() != amp.Float16 || slices.Max(g.Float64s()) <= 0 {
			t.Errorf("%s: gradient %v", name, g)
		}
	}
}

// TestEmbeddingBagInAModel: it has Embedding's name in a state, shares its table, and can be parametrized.
func TestEmbeddingBagInAModel(t *testing.T) {
	root := amp.NewScope(amp.Seed(1))
	defer root.Close()
	bag, head := nn.NewEmbeddingBag(root, 6, 3, nn.SumBag, nn.PaddingRow(1)), nn.NewLinear(root, 3, 6, nn.NoBias())
	bag.Weight = head.Weight
	net := nn.NewSequential(head, bag)
	if all := nn.StateDict(net, nn.TiedNames()); len(all) != 2 || all["0.weight"] != all["1.weight"] {
		t.Errorf("the state is %v", all)
	}
	alone := nn.WeightNorm(root, nn.NewEmbeddingBag(root, 6, 3, nn.MaxBag, nn.PaddingRow(1)))
	index := amp.From([]int64{0, 1, 5, 1, 1, 1}, 2, 3)
	y := alone.Forward(root, index)
	amp.Sum(root, y).Backward()
	if text := fmt.Sprint(alone); text != "EmbeddingBag(original0=[6 1], original1=[6 3], weight_norm(dim=0), mode=max)" {
		t.Error(text)
	}
	want := nn.RemoveParametrization(root, alone).Forward(root, index).Float64s()
	if !slices.Equal(y.Float64s(), want) || !slices.Equal(want[3:], []float64{0, 0, 0}) || slices.Equal(want[:3], want[3:]) {
		t.Errorf("%v, without WeightNorm %v", y.Float64s(), want)
	}
	if err := amp.Maybe(func() { nn.WeightNorm(root, nn.NewEmbeddingBag(root, 6, 3, nn.SumBag, nn.MaxNorm(1))) }); !errors.Is(err, amp.ErrArgument) {
		t.Error(err)
	}
}

// TestEmbeddingBagRefusals says what is wrong with inputs and options.
func TestEmbeddingBagRefusals(t *testing.T) {
	defer amp.SetDefaultDevice(amp.SetDefaultDevice("cpu")) // a device tells at the next read
	s := amp.NewScope()
	defer s.Close()
	list := func(v ...int64) *amp.Tensor { return amp.From(v, len(v)) }
	mean, sum, last := nn.NewEmbeddingBag(s, 4, 2, nn.MeanBag), nn.NewEmbeddingBag(s, 4, 2, nn.SumBag), nn.NewEmbeddingBag(s, 4, 2, nn.SumBag, nn.LastOffset())
	for want, f := range map[string]func(){
		"the index is nil":             func() { mean.Forward(s, nil) },
		"without offsets":              func() { mean.Forward(s, list(1, 2)) },
		"bags of one size":             func() { mean.Run(s, amp.From([]int64{1, 2}, 1, 2), list(0), nil) },
		"the index is float32":         func() { mean.Forward(s, amp.Ones(s, amp.Float32, 1, 2)) },
		"offsets are float32":          func() { mean.Run(s, list(1), amp.From([]float32{0}), nil) },
		"weights for the mean":         func() { mean.Run(s, list(1), list(0), amp.Ones(s, amp.Float32, 1)) },
		"of shape [2] for an index":    func() { sum.Run(s, list(1), list(0), amp.Ones(s, amp.Float32, 2)) },
		"offset 0 is 1, of 2 indices":  func() { sum.Run(s, list(1, 2), list(1), nil) },
		"offset 2 is 1, of 3 indices":  func() { sum.Run(s, list(1, 2, 3), list(0, 2, 1), nil) },
		"offset 1 is 4, of 3 indices":  func() { sum.Run(s, list(1, 2, 3), list(0, 4), nil) },
		"offset 1 is 2, of 3 indices":  func() { last.Run(s, list(1, 2, 3), list(0, 2), nil) },
		"where the last bag ends":      func() { last.Run(s, list(), list(), nil) },
		"use NewEmbeddingBag":          func() { nn.NewEmbedding(s, 4, 2, nn.LastOffset()) },
		"mode BagMode(3)":              func() { nn.NewEmbeddingBag(s, 4, 2, 3) },
		"NewEmbeddingBag: bad argum":   func() { nn.NewEmbeddingBag(s, 4, 2, nn.SumBag, nn.PaddingRow(4)) },
		"make it with nn.NewEmbedding": func() { new(nn.EmbeddingBag).Forward(s, list(1)) },
		"index 0 is 4":                 func() { sum.Run(s, list(4), list(0), nil) },
	} {
		if err := amp.Maybe(f); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
