package amp

import (
	"fmt"
	"strings"

	"github.com/halftone-ml/halftone/internal/absent"
)

// A Policy is jmp's: the dtypes of a model's parameters, of its computation and of its output. It casts explicitly and knows no
// lists: every op of the model runs in the compute dtype.
type Policy struct{ Params, Compute, Output DType }

// policyNames are jmp's names of dtypes; half is float16, as jmp has it everywhere but on a TPU.
var policyNames = map[string]DType{
	"full": Float32, "f32": Float32, "float32": Float32, "half": Float16, "f16": Float16, "float16": Float16, "bf16": BFloat16, "bfloat16": BFloat16,
	"f64": Float64, "float64": Float64,
}

// ParsePolicy reads jmp's string form: "params=f32,compute=f16,output=f16", in short "p=f32,c=f16,o=f16", or one dtype for all
// three. The compute dtype is that of the parameters where it is not given, the output dtype that of the computation.
func ParsePolicy(text string) (Policy, error) {
	var p Policy
	if dt, ok := policyNames[strings.TrimSpace(text)]; ok {
		return Policy{dt, dt, dt}, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		key, name, ok := strings.Cut(part, "=")
		dt, known := policyNames[strings.TrimSpace(name)]
		if !ok || !known {
			return Policy{}, fmt.Errorf("amp: policy %q: can't read %q; write it as \"params=f32,compute=f16,output=f16\" with full, half, f16, bf16, f32 or f64", text, part)
		}
		var at *DType
		switch strings.TrimSpace(key) {
		case "params", "p":
			at = &p.Params
		case "compute", "c":
			at = &p.Compute
		case "output", "o":
			at = &p.Output
		}
		if at == nil || *at != NoDType {
			return Policy{}, fmt.Errorf("amp: policy %q: %q is unknown or given twice; use params, compute and output once each", text, key)
		}
		*at = dt
	}
	if p.Params == NoDType {
		return Policy{}, fmt.Errorf("amp: policy %q: the dtype of params is missing; write it as \"params=f32,compute=f16,output=f16\"", text)
	}
	if p.Compute == NoDType {
		p.Compute = p.Params
	}
	if p.Output == NoDType {
		p.Output = p.Compute
	}
	return p, nil
}

// MustPolicy is ParsePolicy that panics with ErrArgument.
func MustPolicy(text string) Policy {
	p, err := ParsePolicy(text)
	if err != nil {
		said, fix, _ := strings.Cut(strings.TrimPrefix(err.Error(), "amp: "), "; ")
		fail("MustPolicy", ErrArgument, fix, "%s", said)
	}
	return p
}

// String returns the long form, which ParsePolicy reads.
func (p Policy) String() string {
	return fmt.Sprintf("params=%s,compute=%s,output=%s", p.Params, p.Compute, p.Output)
}

// WithOutput returns the policy with another output dtype.
func (p Policy) WithOutput(dt DType) Policy { p.Output = dt; return p }

// CastToParam, CastToCompute and CastToOutput return float tensors in the dtype of that part, others as they are.
func (p Policy) CastToParam(s *Scope, t *Tensor) *Tensor { return castFloat(s, t, p.Params) }

// CastToCompute returns a float tensor in the compute dtype, another as it is.
func (p Policy) CastToCompute(s *Scope, t *Tensor) *Tensor { return castFloat(s, t, p.Compute) }

// CastToOutput returns a float tensor in the output dtype, another as it is.
func (p Policy) CastToOutput(s *Scope, t *Tensor) *Tensor { return castFloat(s, t, p.Output) }

func castFloat(s *Scope, t *Tensor, to DType) *Tensor {
	t.live("Policy")
	if !t.dt.IsFloat() {
		return t
	}
	return To(s, t, to)
}

// Apply puts a model under the policy: its parameters are brought to the params dtype now, once and in place, and its Forward computes
// every op in the compute dtype, weights included, and returns the output dtype. Make the optimizer afterwards. It panics with
// ErrArgument for a compute dtype of float64 with other parameters, which autocast does not touch.
func (p Policy) Apply(model Model) *PolicyModel {
	if (p.Compute == Float64) != (p.Params == Float64) {
		fail("Policy.Apply", ErrArgument, "use float64 for both, or for neither", "%v: autocast leaves float64 alone", p)
	}
	if absent.Is(model) {
		fail("Policy.Apply", ErrArgument, "pass a model", "the model is nil")
	}
	for _, t := range model.Parameters() {
		if t.dt.IsFloat() && t.dt != p.Params {
			to := alloc("Policy.Apply", t.st.dev, p.Params, t.shape)
			Assign(to, t)
			exchange(t, to)
			to.release()
		}
	}
	return &PolicyModel{model, p}
}

// A PolicyModel is a model under a Policy.
type PolicyModel struct {
	model  Model
	Policy Policy
}

// Scope returns the scope in which the model's ops run: all in the compute dtype.
func (m *PolicyModel) Scope(s *Scope) *Scope {
	if m.Policy.Compute == Float64 {
		return s.Autocast(NoDType, Enabled(false))
	}
	return s.Autocast(m.Policy.Compute, UseLists(PureLists))
}

// Forward runs the model for x in the compute dtype and returns the output dtype.
func (m *PolicyModel) Forward(s *Scope, x *Tensor) *Tensor {
	off := s.Autocast(NoDType, Enabled(false))
	y := m.model.Forward(m.Scope(s), m.Policy.CastToCompute(off, x))
	return m.Policy.CastToOutput(off, y)
}

// Parameters returns the model's parameters, in the params dtype.
func (m *PolicyModel) Parameters() []*Tensor { return m.model.Parameters() }

// Buffers returns the model's buffers, if it has any.
func (m *PolicyModel) Buffers() []*Tensor { return BuffersOf(m.model) }
