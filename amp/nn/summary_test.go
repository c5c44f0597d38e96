package nn_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/internal/remote"
	"github.com/halftone-ml/halftone/amp/nn"
)

func ExampleSummary() {
	root := amp.NewScope(amp.Seed(1))
	defer root.Close()
	net := nn.NewSequential(nn.NewLinear(root, 8, 16), nn.ReLU, nn.NewLayerNorm(root, 16), nn.Named{Name: "head", Module: nn.NewLinear(root, 16, 3)})
	fmt.Print(nn.Summary(root.Autocast(amp.Float16), net, amp.Full(root, amp.Float32, 0, 4, 8)))
	// Output:
	// Module   Ops         Output          Runs in  Parameters   FLOPs  Memory
	// ────────────────────────────────────────────────────────────────────────
	// (model)              float16 [4 3]
	//   0      linear      float16 [4 16]  float16         144  1.09 K   192 B
	//   1      relu        float16 [4 16]  float16                  64   128 B
	//   2      layer_norm  float32 [4 16]  float32          32     512   512 B
	//   head   linear      float16 [4 3]   float16          51     396   152 B
	// ────────────────────────────────────────────────────────────────────────
	// 227 parameters (908 B), 2.06 K FLOPs forward (2 per multiply-add), 984 B of results, autocast float16
}

// TestSummaryNumbers works every number of a transformer out by hand.
func TestSummaryNumbers(t *testing.T) {
	root := amp.NewScope(amp.Seed(1))
	defer root.Close()
	g := nn.NewGPT(root, nn.GPTConfig{Context: 8, Features: 16, Layers: 1, Heads: 2, Vocabulary: 10, Tied: true})
	m := nn.Summary(root.Autocast(amp.BFloat16), g, amp.From(make([]int64, 2*6), 2, 6))
	const tokens, f = 12, 16
	type want struct {
		out               string
		compute           amp.DType
		parameters, flops int
	}
	for path, w := range map[string]want{
		"":                       {"bfloat16 [2 6 10]", amp.NoDType, 0, 0},
		"wte":                    {"float32 [2 6 16]", amp.Float32, 10 * f, 0},
		"wpe":                    {"float32 [2 6 16]", amp.Float32, 8 * f, tokens * f},
		"h.0":                    {"float32 [2 6 16]", amp.Float32, 0, 2 * tokens * f},
		"h.0/norm1":              {"float32 [2 6 16]", amp.Float32, 2 * f, 8 * tokens * f},
		"h.0/self_attn":          {"bfloat16 [2 6 16]", amp.BFloat16, 3 * f * (f + 1), 3*tokens*f*(2*f+1) + 2*2*6*6*(4*f/2+5)},
		"h.0/self_attn/out_proj": {"bfloat16 [2 6 16]", amp.BFloat16, f * (f + 1), tokens * f * (2*f + 1)},
		"h.0/linear1":            {"bfloat16 [2 6 64]", amp.BFloat16, 4 * f * (f + 1), tokens * 4 * f * (2*f + 1)},
		"h.0/activation":         {"bfloat16 [2 6 64]", amp.BFloat16, 0, tokens * 4 * f},
		"lm_head":                {"bfloat16 [2 6 10]", amp.BFloat16, 0, tokens * 10 * 2 * f},
	} {
		i := slices.IndexFunc(m.Rows, func(r nn.SummaryRow) bool { return r.Module == path })
		if i < 0 {
			t.Errorf("no row %q", path)
			continue
		}
		r := m.Rows[i]
		if got := (want{fmt.Sprint(r.Out.DType, " ", r.Out.Shape), r.Compute, r.Parameters, int(r.FLOPs)}); got != w {
			t.Errorf("%s: %+v, want %+v", path, got, w)
		}
		if r.Depth != strings.Count("/"+path, "/")-1 && path == "" || path != "" && r.Depth != strings.Count(path, "/")+1 {
			t.Errorf("%s: depth %d", path, r.Depth)
		}
	}
	count, flops, bytes := 0, int64(0), int64(0)
	for _, r := range m.Rows {
		count += r.Parameters
		flops += r.FLOPs
		bytes += r.Bytes
	}
	total := 0
	for _, p := range g.Parameters() {
		total += p.Len()
	}
	if count != total || m.Parameters != total || m.FLOPs != flops || m.Bytes != bytes || m.StateBytes != int64(4*total) || m.Autocast != amp.BFloat16 {
		t.Errorf("totals %d %d %d of %d: %+v", count, flops, bytes, total, m)
	}
}

// TestSummaryChangesNothing: neither weights, buffers, gradients nor the random stream, and no memory stays behind.
func TestSummaryChangesNothing(t *testing.T) {
	root := amp.NewScope(amp.Seed(1), amp.Record(amp.Decisions))
	defer root.Close()
	net := nn.NewSequential(nn.NewLinear(root, 4, 4), nn.NewDropout(0.5))
	x := amp.Full(root, amp.Float32, 1, 2, 4)
	stream, bytes, events := root.Random().State(), amp.MemStats()[remote.Home()].Bytes, len(root.Trace().Events)
	m := nn.Summary(root, net, x)
	if m.Autocast != amp.NoDType || m.Parameters != 20 {
		t.Errorf("%+v", m)
	}
	if root.Random().State() != stream || amp.MemStats()[remote.Home()].Bytes != bytes || len(root.Trace().Events) != events {
		t.Error("stream, memory or trace changed")
	}
	for _, p := range net.Parameters() {
		if p.Version() != 0 || p.Grad() != nil {
			t.Errorf("%s changed", p.Name())
		}
	}
}

// TestSummaryOfConvolutions counts multiply-adds of convolutions, transposed ones and buffers.
func TestSummaryOfConvolutions(t *testing.T) {
	root := amp.NewScope(amp.Seed(1))
	defer root.Close()
	net := nn.NewSequential(nn.NewConv2d(root, 4, 6, 3, nn.Padding(1), nn.Groups(2)), nn.NewBatchNorm2d(root, 6), nn.NewConvTranspose2d(root, 6, 5, 2, nn.Stride(2)), nn.MaxPool2d(2))
	m := nn.Summary(root.Autocast(amp.BFloat16), net, amp.Randn(root, amp.Float32, 0, 1, 2, 4, 8, 8))
	var got []int64
	for _, r := range m.Rows[1:] {
		got = append(got, r.FLOPs)
	}
	// 4/2·3·3 multiply-adds per output; 8 per element; 5·2·2 per input of the transposed one; one per element that is pooled.
	if want := []int64{2 * (2 * 6 * 64) * 18, 8 * (2 * 6 * 64), 2 * (2 * 6 * 64) * 20, 2 * 5 * 256}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	buffers := 0
	for _, b := range nn.Buffers(net) {
		buffers += b.Len()
	}
	if m.Buffers != buffers || buffers == 0 || m.Rows[1].Out.DType != amp.BFloat16 {
		t.Errorf("%d in buffers, want %d; %v", m.Buffers, buffers, m.Rows[1].Out)
	}
	for i, b := range nn.Buffers(net) {
		if b.Version() != 0 {
			t.Errorf("buffer %d changed", i)
		}
	}
}
