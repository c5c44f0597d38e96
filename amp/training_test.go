package amp_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/nn"
	"github.com/halftone-ml/halftone/amp/optim"
)

type array struct {
	Shape []int
	Data  []float64
}

func (a array) tensor() *amp.Tensor { return a.as(amp.Float32) }

// as returns the numbers, which are float32 in decimal, in another dtype.
func (a array) as(dt amp.DType) *amp.Tensor {
	v := make([]float64, len(a.Data))
	for i, x := range a.Data {
		v[i] = float64(float32(x))
	}
	return amp.FromFloat64s(dt, v, a.Shape...)
}

type run struct {
	Losses    []float64
	GradNorms []float64 `json:"grad_norms"`
	Final     map[string]array
	GradsStep []map[string]array `json:"grads_per_step"`
	Grads1    map[string]array   `json:"grads_step1"`
}

type reference struct {
	Hyper struct {
		LR float64
	}
	Data struct{ X, Y array }
	Init map[string]array `json:"initial"`
	F32  run
	F64  run
	BF16 run `json:"bf16_autocast_cpu"`
}

type emulated struct {
	Params struct {
		InitScale      float64 `json:"init_scale"`
		GrowthInterval int     `json:"growth_interval"`
		Growth         float64 `json:"growth_factor"`
		Backoff        float64 `json:"backoff_factor"`
	}
	Steps []struct {
		Loss    float64
		Scale   float64
		Skipped bool
		Norm    *float64 `json:"grad_norm"`
	}
	FinalScale   float64 `json:"final_scale"`
	FinalTracker int     `json:"final_growth_tracker"`
}

func training(t *testing.T) (linear, mlp reference, fp16 map[string][]emulated) {
	t.Helper()
	b, err := os.ReadFile("testdata/training_reference.json")
	if err != nil {
		t.Fatal(err)
	}
	var v struct {
		Linear, MLP reference
		FP16        json.RawMessage `json:"fp16_emulated"`
	}
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatal(err)
	}
	var both struct{ Linear, MLP []emulated }
	if err := json.Unmarshal(v.FP16, &both); err != nil {
		t.Fatal(err)
	}
	return v.Linear, v.MLP, map[string][]emulated{"linear": both.Linear, "mlp": both.MLP}
}

// model builds the reference's model with its initial parameters in the given dtype.
func model(root *amp.Scope, name string, r reference, dt amp.DType) (nn.Module, map[string]*amp.Tensor) {
	var net nn.Module
	named := map[string]*amp.Tensor{}
	if name == "linear" {
		net = nn.NewLinear(root, 10, 1, nn.DType(dt))
	} else {
		net = nn.NewSequential(nn.NewLinear(root, 8, 16, nn.DType(dt)), nn.ReLU, nn.NewLinear(root, 16, 16, nn.DType(dt)), nn.ReLU, nn.NewLinear(root, 16, 1, nn.DType(dt)))
	}
	for _, p := range net.Parameters() {
		named[p.Name()] = p
		amp.CopyInPlace(root.NoGrad(), p, r.Init[p.Name()].tensor())
	}
	return net, named
}

func close(a, b, rel float64) bool { return math.Abs(a-b) <= rel*math.Max(math.Abs(b), 1e-12) }

func norm(params []*amp.Tensor) float64 {
	sum := 0.0
	for _, p := range params {
		sum += amp.SumOfSquares(p.Grad())
	}
	return math.Sqrt(sum)
}

// TestTrainingReference trains the two dense models as PyTorch did: float64 and float32 closely, bfloat16 autocast loosely.
func TestTrainingReference(t *testing.T) {
	linear, mlp, _ := training(t)
	for name, r := range map[string]reference{"linear": linear, "mlp": mlp} {
		for _, c := range []struct {
			kind     string
			dt       amp.DType
			autocast amp.DType
			want     run
			rel      float64
		}{
			{"float64", amp.Float64, amp.NoDType, r.F64, 1e-12},
			{"float32", amp.Float32, amp.NoDType, r.F32, 1e-5},
			{"bfloat16", amp.Float32, amp.BFloat16, r.BF16, 2e-2},
		} {
			t.Run(name+"/"+c.kind, func(t *testing.T) {
				root := amp.NewScope()
				defer root.Close()
				net, named := model(root, name, r, c.dt)
				x, y := r.Data.X.as(c.dt), r.Data.Y.as(c.dt)
				opt := optim.NewSGD(net.Parameters(), optim.LR(r.Hyper.LR))
				if len(c.want.Losses) < 3 {
					t.Fatal("no losses in the vectors")
				}
				step := 0
				for s := range root.Steps(len(c.want.Losses)) {
					fwd := s
					if c.autocast != amp.NoDType {
						fwd = s.Autocast(c.autocast)
					}
					loss := nn.MSELoss(fwd, net.Forward(fwd, x), y)
					opt.ZeroGrad()
					loss.Backward()
					if got := loss.Item(); !close(got, c.want.Losses[step], c.rel) {
						t.Fatalf("step %d: loss %.9g, want %.9g", step, got, c.want.Losses[step])
					}
					if got := norm(net.Parameters()); !close(got, c.want.GradNorms[step], c.rel) {
						t.Fatalf("step %d: gradient norm %.9g, want %.9g", step, got, c.want.GradNorms[step])
					}
					if c.kind == "float32" && step == 0 {
						grads := r.F32.Grads1
						if grads == nil {
							grads = r.F32.GradsStep[0]
						}
						compare(t, "gradient", named, grads, 2e-5, (*amp.Tensor).Grad)
					}
					opt.Step()
					step++
				}
				if c.kind == "float32" {
					compare(t, "parameter", named, r.F32.Final, 1e-5, func(p *amp.Tensor) *amp.Tensor { return p })
				}
			})
		}
	}
}

func compare(t *testing.T, what string, named map[string]*amp.Tensor, want map[string]array, rel float64, pick func(*amp.Tensor) *amp.Tensor) {
	t.Helper()
	if len(want) != len(named) {
		t.Fatalf("%d %ss in the vectors, %d in the model", len(want), what, len(named))
	}
	for name, w := range want {
		largest := 0.0
		for _, v := range w.Data {
			largest = math.Max(largest, math.Abs(v))
		}
		for i, v := range pick(named[name]).Float64s() {
			if !(math.Abs(v-w.Data[i]) <= rel*largest) {
				t.Errorf("%s %s[%d]: %.9g, want %.9g", what, name, i, v, w.Data[i])
			}
		}
	}
}

// TestFloat16Emulation compares float16 autocast under a GradScaler with the emulation: losses to 1e-3, and the whole sequence
// of scales and skips exactly.
func TestFloat16Emulation(t *testing.T) {
	linear, mlp, fp16 := training(t)
	for name, r := range map[string]reference{"linear": linear, "mlp": mlp} {
		for _, c := range fp16[name] {
			t.Run(fmt.Sprintf("%s/scale=%g", name, c.Params.InitScale), func(t *testing.T) {
				root := amp.NewScope(amp.Record(amp.Decisions))
				defer root.Close()
				net, _ := model(root, name, r, amp.Float32)
				x, y := r.Data.X.tensor(), r.Data.Y.tensor()
				opt := optim.NewSGD(net.Parameters(), optim.LR(r.Hyper.LR))
				scaler := amp.NewGradScaler(amp.InitScale(c.Params.InitScale), amp.GrowthInterval(c.Params.GrowthInterval), amp.GrowthFactor(c.Params.Growth), amp.BackoffFactor(c.Params.Backoff))
				step := 0
				for s := range root.Steps(len(c.Steps)) {
					want := c.Steps[step]
					half := s.Autocast(amp.Float16)
					loss := nn.MSELoss(half, net.Forward(half, x), y)
					opt.ZeroGrad()
					scaler.Scale(s, loss).Backward()
					if got := scaler.CurrentScale(); got != want.Scale {
						t.Fatalf("step %d: scale %g, want %g", step, got, want.Scale)
					}
					scaler.Unscale(opt)
					if got := loss.Item(); !close(got, want.Loss, 1e-3) {
						t.Fatalf("step %d: loss %.9g, want %.9g", step, got, want.Loss)
					}
					if want.Norm != nil {
						if got := norm(net.Parameters()); !close(got, *want.Norm, 1e-2) {
							t.Errorf("step %d: gradient norm %.9g, want %.9g", step, got, *want.Norm)
						}
					}
					if rep := scaler.Step(opt); rep.Applied() == want.Skipped {
						t.Fatalf("step %d: applied %v, want skipped %v (%v)", step, rep.Applied(), want.Skipped, rep)
					}
					scaler.Update()
					step++
				}
				if scaler.CurrentScale() != c.FinalScale || scaler.GrowthTracker() != c.FinalTracker {
					t.Errorf("final scale %g tracker %d, want %g %d", scaler.CurrentScale(), scaler.GrowthTracker(), c.FinalScale, c.FinalTracker)
				}
			})
		}
	}
}
