package cudart_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/nn"
	"github.com/halftone-ml/halftone/cudart"
)

func list(s *amp.Scope, v ...int64) *amp.Tensor { return amp.From(v).To(s) }

// TestIndicesOutOfRange: a call with an index out of range returns, the memory around stays as it was, and whoever reads next gets the CPU's
// error, that of the first bad place in the first such call. Then all is well again.
func TestIndicesOutOfRange(t *testing.T) {
	device := gpu(t)
	s := amp.NewScope(amp.On(device)).NoGrad()
	defer s.Close()
	x := placed(s, amp.Float32, numbers(12), 4, 3)
	plain := amp.Exp(s, x)
	steps := amp.Reshape(s, x, 2, 2, 3)
	ctc := func(targets *amp.Tensor, lengths ...int64) func() *amp.Tensor {
		return func() *amp.Tensor { return amp.CTCLoss(s, steps, targets, list(s, 2, 2), list(s, lengths...)) }
	}
	for name, c := range map[string]struct {
		call func() *amp.Tensor
		says []string
	}{
		"embedding":    {func() *amp.Tensor { return amp.Embedding(s, x, list(s, 0, 9, 7)) }, []string{"embedding", "index 1 is 9", "from 0 to 3"}},
		"negative":     {func() *amp.Tensor { return amp.Embedding(s, x, list(s, 0, 1, -3)) }, []string{"embedding", "index 2 is -3"}},
		"beyond int32": {func() *amp.Tensor { return amp.Embedding(s, x, list(s, 1<<40+5)) }, []string{"index 0 is 1099511627781"}},
		"gather":       {func() *amp.Tensor { return amp.Gather(s, x, 1, placed(s, amp.Int64, []float64{0, 3}, 1, 2)) }, []string{"gather", "index 1 is 3", "from 0 to 2"}},
		"select":       {func() *amp.Tensor { return amp.IndexSelect(s, x, 1, list(s, 0, 1, 5)) }, []string{"index_select", "index 2 is 5", "from 0 to 2"}},
		"scatter": {func() *amp.Tensor {
			return amp.ScatterValue(s, x, 0, placed(s, amp.Int64, []float64{0, 4, 1}, 1, 3), 7)
		}, []string{"scatter_value", "index 1 is 4"}},
		"add": {func() *amp.Tensor {
			return amp.IndexAdd(s, x, 0, list(s, 4), placed(s, amp.Float32, numbers(3), 1, 3), 1)
		}, []string{"scatter_add", "index 0 is 4"}},
		"unpool": {func() *amp.Tensor {
			return amp.MaxUnpool1d(s, amp.Reshape(s, x, 4, 3), placed(s, amp.Int64, []float64{0, 1, 2, 3, 4, 6, 5, 4, 3, 2, 1, 0}, 4, 3), 2)
		}, []string{"scatter", "index 5 is 6", "from 0 to 5"}},
		"index":   {func() *amp.Tensor { return amp.Index(s, x, list(s, -4, 0), list(s, 0, -4)) }, []string{"index 1 of dimension 1 is -4", "from -3 to 2"}},
		"one_hot": {func() *amp.Tensor { return amp.OneHot(s, list(s, 0, 3), 3) }, []string{"one_hot", "index 1 is 3"}},
		"nll":     {func() *amp.Tensor { return amp.NLLLoss(s, x, list(s, 0, -100, 3, 2)) }, []string{"nll_loss", "target[2] is 3", "from 0 to 2, or -100"}},
		"entropy": {func() *amp.Tensor { return amp.CrossEntropy(s, x, list(s, 0, -1, 3, 2), amp.IgnoreClass(1)) }, []string{"nll_loss", "target[1] is -1", "or 1 to leave"}},
		"labels": {func() *amp.Tensor {
			return amp.MultilabelMarginLoss(s, x, placed(s, amp.Int64, []float64{0, -1, 9, 1, 4, -1, -1, 0, 0, 0, 1, 2}, 4, 3))
		}, []string{"multilabel_margin_loss", "target[1,1] is 4"}},
		"ctc label":  {ctc(list(s, 1, 2, 3), 2, 1), []string{"ctc_loss", "target 2 is 3", "from 0 to 2 but for the blank, 0"}},
		"ctc blank":  {ctc(list(s, 1, 0, 3), 2, 1), []string{"ctc_loss", "target 1 is 0"}},
		"ctc length": {ctc(list(s, 1, 2, 1), 2, 2), []string{"target length 1 is 2", "from 0 to 1"}},
		"ctc sum":    {ctc(list(s, 1, 2, 1), 1, 1), []string{"the sum of all 2 target lengths is 2", "number of targets"}},
		"ctc steps": {func() *amp.Tensor {
			return amp.CTCLoss(s, steps, placed(s, amp.Int64, []float64{1, 2, 1, 9}, 2, 2), list(s, 2, 3), list(s, 2, 1))
		}, []string{"input length 1 is 3", "from 0 to 2"}},
		"bags": {func() *amp.Tensor { return amp.BagIndex(s, list(s, 0, 3, 2), 5, false) }, []string{"bag_index", "offset 2 is 2", "in order"}},
		"bags apart": {func() *amp.Tensor {
			return amp.BagIndex(s, amp.Select(s, placed(s, amp.Int64, []float64{0, 9, 3, 9, 2, 9}, 3, 2), 1, 0), 5, false)
		}, []string{"offset 2 is 2"}},
		"bags begin":  {func() *amp.Tensor { return amp.BagIndex(s, list(s, 1, 3), 5, false) }, []string{"offset 0 is 1", "from 0"}},
		"bags before": {func() *amp.Tensor { return amp.BagIndex(s, list(s, 0, -1<<40), 5, false) }, []string{"offset 1 is -1099511627776"}},
		"bags beyond": {func() *amp.Tensor { return amp.BagIndex(s, list(s, 0, 3, 6, 7), 5, false) }, []string{"offset 2 is 6", "number of indices"}},
		"bags end":    {func() *amp.Tensor { return amp.BagIndex(s, list(s, 0, 3, 4), 5, true) }, []string{"offset 2 is 4", "last the number of indices"}},
		"sum of bags": {func() *amp.Tensor {
			return nn.NewEmbeddingBag(s, 4, 2, nn.SumBag).Run(s, list(s, 1, 2, 3), list(s, 0, 2, 1), nil)
		}, []string{"bag_index", "offset 2 is 1"}},
		"largest of bags": {func() *amp.Tensor {
			return nn.NewEmbeddingBag(s, 4, 2, nn.MaxBag).Run(s, list(s, 1, 2, 3), list(s, 0, 2, -4), nil)
		}, []string{"bag_index", "offset 2 is -4"}},
		"floor_divide": {func() *amp.Tensor { return amp.FloorDivide(s, list(s, 1, 2), list(s, 0, 1)) }, []string{"floor_divide", "divisor 0 is 0", "infinite"}},
		"remainder":    {func() *amp.Tensor { return amp.Remainder(s, list(s, 1, 2), list(s, 1, 0)) }, []string{"remainder", "divisor 1 is 0", "use floats"}},
	} {
		before := cudart.CountsOf(device)
		y := c.call()
		if now := cudart.CountsOf(device); now.Syncs != before.Syncs {
			t.Errorf("%s: the host waited", name)
		}
		err := amp.Maybe(func() { y.Float64s() })
		var e *amp.Error
		if !errors.As(err, &e) || !errors.Is(err, amp.ErrArgument) {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, say := range c.says {
			if !strings.Contains(err.Error(), say) {
				t.Errorf("%s: %v, without %q", name, err, say)
			}
		}
		if err := amp.Maybe(func() { plain.Float64s() }); err != nil {
			t.Errorf("%s: told again: %v", name, err)
		}
	}
	// The error says which module called.
	for _, module := range []string{"wte", "wpe"} {
		amp.Embedding(s.In("gpt").In(module), x, list(s, 5))
		if err := amp.Maybe(func() { plain.Float64s() }); err == nil || !strings.Contains(err.Error(), "embedding (in gpt/"+module+"): ") {
			t.Errorf("called in gpt/%s: %v", module, err)
		}
	}
	restore := cudart.UseUpRefusals()
	amp.Embedding(s.In("gpt"), x, list(s, 0, 5))
	if err := amp.Maybe(func() { plain.Float64s() }); err == nil || !strings.Contains(err.Error(), "an op: ") || !strings.Contains(err.Error(), "index 1 is 5") {
		t.Errorf("one that has no number: %v", err)
	}
	restore()
	// Offsets are looked at where there are no indices, too, and told to whoever reads something.
	amp.BagIndex(s, list(s, 0, 2), 0, false)
	if err := amp.Maybe(func() { plain.Float64s() }); err == nil || !strings.Contains(err.Error(), "offset 1 is 2") {
		t.Errorf("bags of no indices: %v", err)
	}
	// The first call counts, and another tensor's reader is told, too.
	amp.Embedding(s, x, list(s, 5))
	amp.Gather(s, x, 0, placed(s, amp.Int64, []float64{8, 8, 8}, 1, 3))
	if err := amp.Maybe(func() { plain.Float64s() }); err == nil || !strings.Contains(err.Error(), "embedding") {
		t.Errorf("of two calls: %v", err)
	}
}

// TestRefusesInReplay: the index of a captured step may become one that is out of range.
func TestRefusesInReplay(t *testing.T) {
	device := gpu(t)
	root := amp.NewScope(amp.On(device))
	defer root.Close()
	table, at := placed(root, amp.Float32, numbers(12), 4, 3), list(root, 0, 1)
	out := amp.Zeros(root, amp.Float32, 2, 3)
	g := root.Capture(func(s *amp.Scope) { amp.CopyInPlace(s.NoGrad(), out, amp.Embedding(s.NoGrad(), table, at)) })
	defer g.Close()
	for k, v := range []int64{3, 4, 2} {
		amp.SetValues(at, []int64{0, v})
		g.Replay()
		err := amp.Maybe(func() { out.Float64s() })
		if bad := k == 1; bad != errors.Is(err, amp.ErrArgument) {
			t.Errorf("replay with index %d: %v", v, err)
		}
	}
}

// TestLongLists writes and adds up by lists of indices that are put in order first.
func TestLongLists(t *testing.T) {
	device := gpu(t)
	defer cudart.ShortLists(100)()
	const n, rows = 3000, 40
	at := numbers(n)
	for i := range at {
		at[i] = float64(int((at[i]+4)*5) % (rows - 3))
	}
	for _, dt := range []amp.DType{amp.Float32, amp.Float16, amp.Float64, amp.Int64, amp.Bool} {
		for name, f := range map[string]func(s *amp.Scope) *amp.Tensor{
			"scatter": func(s *amp.Scope) *amp.Tensor {
				return amp.Scatter(s, amp.Zeros(s, dt, rows, 1), 0, placed(s, amp.Int64, at, n, 1), placed(s, dt, numbers(n), n, 1))
			},
			"scatter two": func(s *amp.Scope) *amp.Tensor {
				return amp.Scatter(s, amp.Zeros(s, dt, 2, rows), 1, placed(s, amp.Int64, at, 2, n/2), placed(s, dt, numbers(n), 2, n/2))
			},
			"value": func(s *amp.Scope) *amp.Tensor {
				return amp.ScatterValue(s, amp.Zeros(s, dt, rows), 0, placed(s, amp.Int64, at), 1)
			},
			"add": func(s *amp.Scope) *amp.Tensor {
				return amp.ScatterAdd(s, placed(s, dt, numbers(rows), rows), 0, placed(s, amp.Int64, at), placed(s, dt, numbers(n)))
			},
			"embedding": func(s *amp.Scope) *amp.Tensor {
				if !dt.IsFloat() {
					return amp.Zeros(s, dt, 1)
				}
				s = s.EnableGrad()
				w := placed(s, dt, numbers(rows*3), rows, 3).RequireGrad()
				amp.Sum(s, amp.Mul(s, amp.Embedding(s, w, placed(s, amp.Int64, at)), placed(s, dt, numbers(3*n), n, 3))).Backward()
				return w.Grad()
			},
		} {
			want, got := onBoth(t, device, f)
			if i := farApart(want, got, map[amp.DType]float64{amp.Float16: 0x1p-9}[dt]+1e-6, 1e-5); i >= 0 {
				t.Errorf("%s %v: element %d is %v, on the CPU %v", name, dt, i, got[i], want[i])
			}
		}
	}
}

// TestWideParameters: a layer norm of halves takes float32 weights, and products and softmaxes give float64 where that is asked for.
func TestWideParameters(t *testing.T) {
	device := gpu(t)
	for _, dt := range []amp.DType{amp.Float16, amp.BFloat16} {
		for name, f := range map[string]func(s *amp.Scope) *amp.Tensor{
			"layer_norm": func(s *amp.Scope) *amp.Tensor {
				return amp.LayerNorm(s, placed(s, dt, numbers(60), 6, 10), placed(s, amp.Float32, numbers(10)), placed(s, amp.Float32, numbers(10)), 1e-3)
			},
			"rms_norm": func(s *amp.Scope) *amp.Tensor {
				return amp.RMSNorm(s, amp.Transpose(s, placed(s, dt, numbers(60), 10, 6), 0, 1), placed(s, amp.Float32, numbers(10)), 1e-3)
			},
			"prod":        func(s *amp.Scope) *amp.Tensor { return amp.Prod(s, placed(s, dt, numbers(9)), amp.Float64) },
			"softmax":     func(s *amp.Scope) *amp.Tensor { return amp.Softmax(s, placed(s, dt, numbers(9)), 0, amp.Float64) },
			"log_softmax": func(s *amp.Scope) *amp.Tensor { return amp.LogSoftmax(s, placed(s, dt, numbers(9)), 0, amp.Float64) },
		} {
			want, got := onBoth(t, device, f)
			if i := farApart(want, got, 0x1p-7, 1e-5); i >= 0 {
				t.Errorf("%s %v: element %d is %v, on the CPU %v", name, dt, i, got[i], want[i])
			}
		}
	}
}
