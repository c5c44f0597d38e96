package render

import (
	"encoding/base64"
	"encoding/json"
	"maps"
	"math"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/widgets"
	"github.com/halftone-ml/halftone/widgets/internal/sample"
)

// makeFigures makes one of each kind and state.
func makeFigures() map[string]*widgets.Figure {
	return map[string]*widgets.Figure{
		"decisions":        widgets.Decisions(sample.MLP(50)),
		"decisions_large":  widgets.Decisions(sample.Large(48)),
		"decisions_health": widgets.Decisions(sample.Healthy(5)),
		"decisions_none":   widgets.Decisions(nil),
		"steady":           widgets.ScaleHistory(sample.Steady()),
		"calibrating":      widgets.ScaleHistory(sample.Calibrating()),
		"collapsing":       widgets.ScaleHistory(sample.Collapsing()),
		"disabled":         widgets.ScaleHistory(amp.ScaleHistory{Scale: 1}),
		"compare_long": widgets.Compare(
			widgets.Run{Name: "float32", DType: amp.Float32, Loss: sample.Loss(5000, 2.31, .08, .002, .3)},
			widgets.Run{Name: "float16 + scaler", DType: amp.Float16, Loss: sample.Loss(5000, 2.312, .0802, .0021, .31), Skipped: 3},
			widgets.Run{Name: "bfloat16", DType: amp.BFloat16, Loss: sample.Loss(5000, 2.33, .083, .0019, .33)},
		),
		"exponents":       widgets.Exponents(sample.Gradients(3, -18, fixed(65536), "net/4", "net/2", "net/0", "loss"), amp.ScaleHistory{Enabled: true, Scale: 65536, Nominal: 3}),
		"exponents_plain": widgets.Exponents(sample.Gradients(1, -12, fixed(1), "")),
		"exponents_over":  widgets.Exponents(sample.Gradients(2, 2, fixed(4096), "net/0", "net/1"), amp.ScaleHistory{Enabled: true, Scale: 8192, Nominal: 2}),
		"exponents_none":  widgets.Exponents(sample.MLP(2)),
		"flow":            widgets.GradientFlow(sample.Flow(0)),
		"flow_over":       widgets.GradientFlow(sample.Flow(22)),
		"flow_kept":       widgets.GradientFlow(sample.Flow(9)),
		"flow_none":       widgets.GradientFlow(nil),
		"rounding":        widgets.Rounding(sample.Rounding(amp.Float16)),
		"rounding_fp32":   widgets.Rounding(sample.RoundingOver()),
		"rounding_bad":    widgets.Rounding(sample.RoundingBroken()),
		"rounding_none":   widgets.Rounding(nil),
		"compare_ops":     widgets.Compare(tracedRuns()...),
		"bits":            widgets.Bits(0.1),
		"bits_many":       widgets.Bits(1e-8, 70000, 6e-5, 1, 0, math.Inf(-1), math.NaN(), 65519.99, 2),
		"bits_none":       widgets.Bits(),
		"policy":          widgets.Policy(),
		"policy_forced":   forcedPolicy(),
		"live_done":       liveFigure(300, 300),
		"live_stopped":    liveFigure(2000, 1412).Stopped(),
		"live_begin":      liveFigure(2000, 0).Stopped(),
		"live_diverged":   liveFigure(0, 90).Stopped(),
		"compare": widgets.Compare(
			widgets.Run{Name: "float32", DType: amp.Float32, Loss: sample.Loss(50, 1.31, .08, .12, .02), StepNS: []int64{812_000}},
			widgets.Run{Name: "float16 + scaler", DType: amp.Float16, Loss: sample.Loss(50, 1.312, .0802, .118, .021), StepNS: []int64{930_000}, Skipped: 1},
			widgets.Run{Name: "bfloat16", DType: amp.BFloat16, Loss: sample.Loss(50, 1.33, .083, .11, .03), StepNS: []int64{921_000}},
		),
	}
}

func fixed(scale float64) func(int) float64 { return func(int) float64 { return scale } }

// liveFigure is a live figure after a number of steps. Without a total its losses end in NaN.
func liveFigure(total, steps int) *widgets.Figure {
	l := widgets.NewLive(total, "Training in float16")
	for i, v := range sample.Loss(steps, 2.31, .01, .002, .05) {
		r := &amp.StepReport{ScaleStep: amp.ScaleStep{Step: i, Next: 65536, Applied: i%150 != 7, Culprit: "fc2.weight"}}
		if total == 0 && i > 80 {
			v = math.NaN()
		}
		l.StepLoss(v, r)
	}
	f := l.Figure()
	l.Done()
	f.Volatile = &widgets.Volatile{WallNS: 2_700_000_000, Rate: 152.625, LeftNS: 10_400_000_000, Bytes: 12_300_000, PeakBytes: 15_100_000}
	return f
}

var figures = sync.OnceValue(makeFigures)

// TestPreview writes every face to $HALFTONE_PREVIEW, for eyes, and for the browser tests of the notebook extension.
func TestPreview(t *testing.T) {
	dir := os.Getenv("HALFTONE_PREVIEW")
	if dir == "" {
		t.Skip("set HALFTONE_PREVIEW to a folder to look at every face")
	}
	all := maps.Clone(figures())
	maps.Copy(all, chartFigures())
	all["live_running"], all["live_nan"] = liveFigure(2000, 412), liveFigure(0, 90)
	trace, long := manyEvents()
	all["many_decisions"], all["many_scale"] = widgets.Decisions(trace), widgets.ScaleHistory(long)
	for name, f := range all {
		faces, err := Bundle(f)
		if err != nil {
			t.Fatal(err)
		}
		b, err := json.Marshal(f)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name+".json"), b, 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
		for mime, ext := range map[string]string{"text/plain": "txt", "text/html": "html", "image/svg+xml": "svg", "image/png": "png"} {
			s, ok := faces[mime].(string)
			if !ok && !f.Running() {
				t.Errorf("%s: no %s", name, mime)
				continue
			}
			b := []byte(s)
			if ext == "png" {
				b, _ = base64.StdEncoding.DecodeString(s)
			}
			t.Logf("%s.%s %d bytes", name, ext, len(b))
			if err := os.WriteFile(filepath.Join(dir, name+"."+ext), b, 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// forcedPolicy is the op table of a scope by the CPU lists with two overrides.
func forcedPolicy() *widgets.Figure {
	root := amp.NewScope(amp.On("cpu"))
	defer root.Close()
	return widgets.Policy(root.Autocast(amp.BFloat16, amp.UseLists(amp.CPULists), amp.Force("gelu", amp.FP32), amp.Force("softmax", amp.Lower)))
}

// tracedRuns bring their traces and their memory, and one of them is shorter.
func tracedRuns() []widgets.Run {
	return []widgets.Run{
		{Name: "float32", DType: amp.Float32, Loss: sample.Loss(400, 2.31, .08, .02, .05), StepNS: []int64{812_000}, Bytes: 158_900_000, Trace: sample.Looked(3, 0, 1, amp.Float32)},
		{Name: "float16 + scaler", DType: amp.Float16, Loss: sample.Loss(400, 2.3105, .0801, .02, .0502), StepNS: []int64{930_000}, Bytes: 98_500_000, Skipped: 1, Trace: sample.Looked(3, 3e-4, 65536, amp.Float16)},
		{Name: "bfloat16", DType: amp.BFloat16, Loss: sample.Loss(320, 2.312, .0803, .0199, .051), StepNS: []int64{921_000}, Bytes: 99_100_000, Trace: sample.Looked(3, 2.5e-3, 1, amp.BFloat16)},
	}
}
