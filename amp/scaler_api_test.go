package amp

import (
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
)

// errorText gives words that the message of each error code must hold.
var errorText = map[string]string{
	"growth_factor_must_exceed_1":    "growth factor",
	"backoff_factor_must_be_below_1": "backoff factor",
	"unscale_already_called":         "already been called on this optimizer since the last Update",
	"unscale_after_step":             "after Step",
	"step_already_called":            "Step has already been called",
	"no_inf_checks_for_optimizer":    "no parameter of this optimizer has a gradient",
	"no_inf_checks_before_update":    "no gradients were checked",
	"closure_unsupported":            "closure",
	"scale_not_initialised:unscale_": "before the first Scale",
	"scale_not_initialised:update":   "before the first Scale",
	"empty_state_dict":               "state is empty",
}

// TestScalerAPI runs the reference's call sequences with their errors.
func TestScalerAPI(t *testing.T) {
	type outcome struct {
		OK     bool
		Result json.RawMessage
		Error  struct{ Code string }
	}
	var v struct {
		Cases []struct {
			ID     string
			Params scalerParams
			Calls  []struct {
				Call     string
				Opt      string
				Value    special
				Grads    []*special
				NewScale *special `json:"new_scale"`
				Closure  bool
				State    map[string]any
			}
			Expect    []outcome
			Construct *struct{ Code string } `json:"construct_error"`
		} `json:"api_cases"`
	}
	readVectors(t, "grad_scaler_cases.json", &v)
	if len(v.Cases) != 16 {
		t.Errorf("%d cases", len(v.Cases))
	}
	for _, c := range v.Cases {
		t.Run(c.ID, func(t *testing.T) {
			s := NewScope()
			defer s.Close()
			var g *GradScaler
			err := Maybe(func() { g = c.Params.new() })
			if c.Construct != nil {
				if !errors.Is(err, ErrScaler) || !strings.Contains(err.Error(), errorText[c.Construct.Code]) {
					t.Fatalf("construction: %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			opts := map[string]*countingOptimizer{"a": newCounting(3), "b": newCounting(3)}
			for i, call := range c.Calls {
				o, want := opts[call.Opt], c.Expect[i]
				var result any
				err := Maybe(func() {
					switch call.Call {
					case "scale":
						result = g.Scale(s, Scalar(float32(call.Value))).Item()
					case "set_grads":
						for k, f := range call.Grads {
							o.params[k].ZeroGrad()
							if f != nil {
								o.params[k].SetGrad(From([]float32{float32(*f)}))
							}
						}
					case "unscale_":
						g.Unscale(o)
						result = gradients(o, want.Result)
					case "step":
						before := o.steps
						var closure []func() *Tensor
						if call.Closure {
							closure = append(closure, func() *Tensor { return nil })
						}
						g.Step(o, closure...)
						result = "skipped"
						if o.steps > before {
							result = "stepped"
						}
					case "update":
						if call.NewScale != nil {
							g.UpdateTo(float64(*call.NewScale))
							return
						}
						g.Update()
					case "get_scale":
						result = g.CurrentScale()
					case "get_growth_tracker":
						result = float64(g.GrowthTracker())
					case "state_dict":
						b, _ := json.Marshal(g.State())
						if string(b) == "null" {
							b = []byte("{}")
						}
						json.Unmarshal(b, &result)
					case "load_state_dict":
						if err := g.LoadState(nil); err != nil {
							panic(err)
						}
					default:
						t.Fatalf("unknown call %q", call.Call)
					}
				})
				if want.OK != (err == nil) {
					t.Fatalf("call %d %s: error %v, want ok %v", i, call.Call, err, want.OK)
				}
				if err != nil {
					text := errorText[want.Error.Code]
					if text == "" || !strings.Contains(err.Error(), text) || !strings.Contains(err.Error(), "fix: ") {
						t.Fatalf("call %d %s: %v, want %q (%s)", i, call.Call, err, text, want.Error.Code)
					}
					continue
				}
				if want.Result == nil {
					continue
				}
				var expected any
				json.Unmarshal(want.Result, &expected)
				if !reflect.DeepEqual(result, expected) {
					t.Fatalf("call %d %s: %v, want %v", i, call.Call, result, expected)
				}
			}
		})
	}
}

// gradients returns what the vectors call the result of unscale_, as JSON would read it.
func gradients(o *countingOptimizer, like json.RawMessage) any {
	var want []any
	json.Unmarshal(like, &want)
	out := []any{}
	for k := range want {
		switch g := o.params[k].Grad(); {
		case g == nil:
			out = append(out, nil)
		case math.IsInf(g.Item(), 1):
			out = append(out, "inf")
		default:
			out = append(out, g.Item())
		}
	}
	return out
}
