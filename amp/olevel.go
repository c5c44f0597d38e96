package amp

import (
	"fmt"
	"slices"

	"github.com/halftone-ml/halftone/internal/absent"
	"github.com/halftone-ml/halftone/internal/optional"
	"github.com/halftone-ml/halftone/internal/parents"
)

// The O-levels of NVIDIA Apex, for code that comes from there: a model and its optimizer are set up once, by a level and overrides.

// An OLevel is one of Apex's four.
type OLevel uint8

// The levels and what they stand for.
const (
	O0 OLevel = iota // float32 training
	O1               // every op by Apex's lists: whitelisted ones in float16, the model stays in float32
	O2               // "almost FP16": the model in float16 but for batch norm, with float32 master weights
	O3               // pure float16: fast, and often unstable
)

// String returns "O0" … "O3".
func (l OLevel) String() string { return fmt.Sprintf("O%d", uint8(l)) }

// A Model is what Initialize takes: nn.Module without the name.
type Model interface {
	Forward(s *Scope, x *Tensor) *Tensor
	Parameters() []*Tensor
}

// properties are a level with its overrides. Pointers are nil where Apex's are None.
type properties struct {
	level     OLevel
	cast      DType // NoDType: the model is left as it is
	patch     bool  // ops by Apex's lists
	keepNorm  *bool
	masters   *bool
	dynamic   bool
	scale     float64
	losses    int
	outputs   DType
	floor     float64
	ceiling   float64
	castGiven bool
}

// A LevelOption overrides one property of a level.
type LevelOption func(*properties)

// CastModelType casts the model's parameters and float inputs to dtype.
func CastModelType(dtype DType) LevelOption {
	return func(p *properties) { p.cast, p.castGiven = dtype, true }
}

// KeepBatchNormFP32 keeps the weights and statistics of batch norm in float32 while the model is cast.
func KeepBatchNormFP32(keep bool) LevelOption { return func(p *properties) { p.keepNorm = &keep } }

// MasterWeights keeps float32 copies of the cast parameters, which the optimizer moves.
func MasterWeights(on bool) LevelOption { return func(p *properties) { p.masters = &on } }

// StaticLossScale multiplies losses by a fixed scale; steps are never skipped then.
func StaticLossScale(scale float64) LevelOption {
	return func(p *properties) { p.dynamic, p.scale = false, scale }
}

// DynamicLossScale multiplies losses by a scale that starts at 65536, halves after an overflow and doubles after 2000 clean steps.
func DynamicLossScale() LevelOption { return func(p *properties) { p.dynamic = true } }

// mostLosses is far above what a program has, and below what takes a machine's memory to keep apart.
const mostLosses = 1 << 16

// NumLosses makes one loss scale for each of n losses; ScaleLoss says which with LossID. The default is 1.
func NumLosses(n int) LevelOption { return func(p *properties) { p.losses = n } }

// CastModelOutputs casts the model's output to dtype; the default is float32 where the model is cast.
func CastModelOutputs(dtype DType) LevelOption { return func(p *properties) { p.outputs = dtype } }

// MinLossScale is the floor of a dynamic scale; the default is none.
func MinLossScale(s float64) LevelOption { return func(p *properties) { p.floor = s } }

// MaxLossScale is the ceiling of a dynamic scale; the default is 2²⁴.
func MaxLossScale(s float64) LevelOption { return func(p *properties) { p.ceiling = s } }

// levels are Apex's defaults.
func levels(l OLevel) properties {
	yes, no := true, false
	p := properties{level: l, losses: 1, scale: 1, ceiling: 1 << 24}
	switch l {
	case O0:
		p.cast, p.masters = Float32, &no
	case O1:
		p.patch, p.dynamic = true, true
	case O2:
		p.cast, p.keepNorm, p.masters, p.dynamic = Float16, &yes, &yes, true
	case O3:
		p.cast, p.keepNorm, p.masters = Float16, &no, &no
	}
	return p
}

// Initialize prepares a float32 model and its optimizer for a level, as apex.amp.initialize does:
//
//	level                 O0         O1         O2          O3
//	cast model to         float32    -          float16     float16
//	ops by Apex's lists   no         yes        no          no
//	batch norm in fp32    -          -          yes         no
//	master weights        no         -          yes         no
//	loss scale            1          dynamic    dynamic     1
//
// The model returned casts its inputs and outputs, the optimizer moves the master weights and skips the steps that overflowed.
// Parameters keep their identity: the model given and the one returned share them. It panics with ErrDType for parameters that are
// not float32, and with ErrArgument without a model or an optimizer and for overrides that make no sense for
// the level.
func Initialize(model Model, opt Optimizer, level OLevel, overrides ...LevelOption) (*LevelModel, *LevelOptimizer) {
	if level > O3 {
		fail("Initialize", ErrArgument, "use amp.O0, amp.O1, amp.O2 or amp.O3", "level %d", level)
	}
	p := levels(level)
	optional.Apply("Initialize", overrides, &p, misused)
	p.check()
	switch {
	case absent.Is(model):
		fail("Initialize", ErrArgument, "pass a model", "the model is nil")
	case absent.Is(opt):
		fail("Initialize", ErrArgument, "pass an optimizer; for inference alone, amp.MustPolicy(\"half\").Apply(model) casts a model", "the optimizer is nil")
	}
	for i, t := range slices.Concat(model.Parameters(), opt.Parameters()) {
		if t.dt != Float32 {
			fail("Initialize", ErrDType, "make the model in float32 and let Initialize cast it", "%s is %v", paramName(t, i), t.dt)
		}
	}
	m := &LevelModel{model: model, p: p}
	o := &LevelOptimizer{opt: opt, p: p, masters: map[*Tensor]*Tensor{}, stash: map[*Tensor]*Tensor{}}
	for range p.losses {
		o.scalers = append(o.scalers, levelScaler{scale: p.firstScale()})
	}
	if p.cast != NoDType && p.cast != Float32 {
		o.castParameters(m)
	}
	return m, o
}

// check refuses what Apex warns of or refuses.
func (p *properties) check() {
	bad := func(fix, format string, args ...any) {
		fail("Initialize", ErrArgument, fix, "%v: %s", p.level, fmt.Sprintf(format, args...))
	}
	switch {
	case p.losses < 1 || p.losses > mostLosses:
		bad(fmt.Sprintf("use amp.NumLosses(1) to (%d)", mostLosses), "%d losses", p.losses)
	case !p.dynamic && !(p.scale > 0):
		bad("use a scale above 0, or amp.DynamicLossScale()", "loss scale %v", p.scale)
	case p.castGiven && p.cast != Float16 && p.cast != BFloat16 && p.cast != Float32:
		bad("use amp.Float16, amp.BFloat16 or amp.Float32", "cast model to %v", p.cast)
	case p.patch && p.castGiven && p.cast != Float32:
		bad("leave amp.CastModelType out, or use amp.O2", "the model stays in float32 where ops are chosen by lists")
	case p.patch && p.keepNorm != nil:
		bad("leave amp.KeepBatchNormFP32 out", "batch norm stays in float32 as the whole model does")
	case p.patch && p.masters != nil:
		bad("leave amp.MasterWeights out", "the weights are float32 and are their own masters")
	case p.masters != nil && *p.masters && p.cast == Float32:
		bad("leave amp.MasterWeights out", "a float32 model is its own master")
	}
}

func (p *properties) firstScale() float64 {
	if p.dynamic {
		return min(65536, p.ceiling)
	}
	return p.scale
}

// A LevelModel is a model prepared by Initialize.
type LevelModel struct {
	model Model
	p     properties
}

// Scope returns the scope in which the level's ops run: under O1 autocast to float16 by Apex's lists, else s itself. Forward uses
// it; compute the loss in it too.
func (m *LevelModel) Scope(s *Scope) *Scope {
	if m.p.patch {
		return s.Autocast(Float16, UseLists(ApexLists))
	}
	return s
}

// Forward runs the model: a float x is cast to the model's dtype and the output to float32, where the level casts the model.
func (m *LevelModel) Forward(s *Scope, x *Tensor) *Tensor {
	s = m.Scope(s)
	if m.p.cast != NoDType && eligible(x) {
		x = To(s, x, m.p.cast)
	}
	y := m.model.Forward(s, x)
	out := m.p.outputs
	if out == NoDType && m.p.cast != NoDType {
		out = Float32
	}
	if out != NoDType && eligible(y) {
		y = To(s, y, out)
	}
	return y
}

// Parameters returns the model's parameters.
func (m *LevelModel) Parameters() []*Tensor { return m.model.Parameters() }

// Buffers returns the model's buffers, if it has any.
func (m *LevelModel) Buffers() []*Tensor { return BuffersOf(m.model) }

// BuffersOf returns a model's buffers, such as the running statistics of batch norm: what its method Buffers returns, without one those of
// its children if it is a module made of others (nn.Parent), else none.
func BuffersOf(m Model) []*Tensor {
	if b, ok := m.(interface{ Buffers() []*Tensor }); ok {
		return b.Buffers()
	}
	if parents.Buffers != nil {
		list, _ := parents.Buffers(m).([]*Tensor)
		return list
	}
	return nil
}

// KeepFloat32 marks a parameter or buffer of a normalization that is kept in float32 when a model is cast to half, as batch norm's
// are (KeepBatchNormFP32), and returns it.
func (t *Tensor) KeepFloat32() *Tensor { t.known("KeepFloat32").norm = true; return t }

// castParameters brings the model's floats to half in place, and makes the master weights.
func (o *LevelOptimizer) castParameters(m *LevelModel) {
	masters := o.p.masters != nil && *o.p.masters
	keep := o.p.keepNorm != nil && *o.p.keepNorm
	for _, t := range append(m.Parameters(), m.Buffers()...) {
		if !eligible(t) || t.norm && keep || t.dt == o.p.cast {
			continue
		}
		half := alloc("Initialize", t.st.dev, o.p.cast, t.shape)
		Assign(half, t)
		exchange(t, half) // half now holds the float32 values
		if masters && t.needs {
			half.name = t.name
			o.masters[t] = half.RequireGrad()
			continue
		}
		half.release()
	}
}

// exchange swaps the contents of two contiguous leaves of one shape, gradients included; the tensors themselves stay what they are
// to the model and the optimizer that hold them.
func exchange(a, b *Tensor) {
	a.dt, b.dt = b.dt, a.dt
	a.st, b.st = b.st, a.st
	a.off, b.off = b.off, a.off
	a.grad, b.grad = b.grad, a.grad
}
