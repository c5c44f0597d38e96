package amp

import (
	"fmt"
	"maps"
	"runtime"
	"strings"

	"github.com/halftone-ml/halftone/internal/optional"
)

// autocast is the part of a scope that chooses precisions.
type autocast struct {
	on      bool
	dtype   DType
	noCache bool
	lists   Lists

	unclassified Class // of the user's ops without a class; Unlisted: they follow their inputs, with a warning
	force        map[string]Class
	short        shortRecipe // FP8 or FP4; nil: products read the lower dtype
}

// An AutocastOption configures Scope.Autocast.
type AutocastOption func(*autocast)

// Enabled(false) makes a scope in which autocast is off: every op runs in the dtype of its inputs.
func Enabled(on bool) AutocastOption { return func(a *autocast) { a.on = on } }

// CacheEnabled(false) casts a float32 weight again for each use instead of once per version. Its gradient contributions are
// then summed in float32; with the cache they are summed in the lower dtype, as in PyTorch.
func CacheEnabled(on bool) AutocastOption { return func(a *autocast) { a.noCache = !on } }

// Force overrides the class of one op in the scope: amp.Force("exp", amp.Lower). It panics with ErrArgument for an op that
// the table does not hold.
func Force(op string, class Class) AutocastOption {
	o, ok := LookupOp(op)
	if !ok {
		unknownOp("Force", op)
	}
	if (class == FP32Output || class == FP32Append) && o.CPU == nil {
		fail("Force", ErrArgument, "use amp.FP32", "%s has no kernel of its own whose output dtype could be chosen", op)
	}
	return func(a *autocast) {
		a.force = maps.Clone(a.force)
		if a.force == nil {
			a.force = map[string]Class{}
		}
		a.force[op] = class
	}
}

// Autocast returns a scope in which every op runs in the precision that its class asks for, with dtype (Float16, BFloat16, or
// Float32 to opt out within an autocast scope) as the lower one. NoDType keeps the present dtype, float16 outside of any.
// Overrides, the recipe of FP8 or FP4 and the cache setting are inherited by nested scopes. Run the forward pass and the loss in it, not Backward:
// a backward op runs in the dtype its forward ran in.
func (s *Scope) Autocast(dtype DType, opts ...AutocastOption) *Scope {
	c := s.derive()
	c.auto.on = true
	if dtype != NoDType {
		c.auto.dtype = dtype
	} else if c.auto.dtype == NoDType {
		c.auto.dtype = Float16
	}
	if d := c.auto.dtype; d != Float16 && d != BFloat16 && d != Float32 {
		fail("Autocast", ErrDType, "use amp.Float16, amp.BFloat16 or amp.Float32", "%v is no dtype autocast can run in", dtype)
	}
	optional.Apply("Autocast", opts, &c.auto, misused)
	return c
}

// AutocastDType returns the dtype of the scope's autocast, and false if it is off.
func (s *Scope) AutocastDType() (DType, bool) {
	s.known("AutocastDType")
	return s.auto.dtype, s.auto.on
}

// rule says what decided an op's precision; the sentence is made when a trace is exported.
type rule uint8

const (
	ruleOff rule = iota
	ruleBackward
	ruleLower
	ruleFP32
	ruleOutput
	ruleExplicit
	rulePromote
	ruleUnlisted
	ruleWidened
	ruleUntouched
	ruleInPlace
	ruleCast
	ruleCastHit
	ruleCastUser
	ruleCastPromotion
	ruleCastWhole
	ruleOptimizer
	ruleOptimizerPart
	rulePart
	ruleCastInputs
	ruleUnclassified
	ruleInherit
	ruleFP8
	ruleFP8Left
	ruleFP8Sizes
	ruleCastFP8
	ruleCastFP8Back
	ruleFP4
	ruleFP4Left
	ruleFP4Sizes
	ruleCastFP4
	ruleCastFP4Back
	ruleCastFP4Random
	ruleListed = 1 << 6 // with one of the above: the scope's lists hold the op otherwise than the table
	ruleForced = 1 << 7 // with one of the above
)

// A decision is what autocast does with one call.
type decision struct {
	target DType // eligible inputs are cast to it; NoDType: none
	output DType // dtype asked of the kernel's result; NoDType: the row's
	rule   rule
}

// widen notes that the inputs of an op that autocast leaves alone differ.
func (d *decision) widen() {
	if d.rule&^(ruleListed|ruleForced) == ruleUnlisted {
		d.rule += ruleWidened - ruleUnlisted
	}
}

// lower says whether the lower dtype was chosen, by the class or by an override.
func (d *decision) lower() bool { return d.rule&^(ruleListed|ruleForced) == ruleLower }

// eligible says whether autocast may cast a tensor: floating point and not float64.
func eligible(t *Tensor) bool { return t != nil && t.dt.IsFloat() && t.dt != Float64 }

// decide is PyTorch's policy for one call (spec: autocast policies, exact algorithm).
func (s *Scope) decide(o *Op, at *Attrs, in []*Tensor) decision {
	if !s.auto.on {
		switch s.phase {
		case forwardPhase:
			if s.part != nil {
				return decision{rule: rulePart}
			}
		case backwardPhase:
			return decision{rule: ruleBackward}
		case optimizerPhase:
			if s.part != nil {
				return decision{rule: ruleOptimizerPart}
			}
			return decision{rule: ruleOptimizer}
		}
		return decision{rule: ruleOff}
	}
	if o.InPlace {
		return decision{rule: ruleInPlace}
	}
	class, flag := s.auto.class(o), rule(0)
	if class != o.Class {
		flag = ruleListed
	}
	if c, ok := s.auto.force[o.Name]; ok {
		class, flag = c, ruleForced
	}
	d := s.decideClass(o, class, at, in)
	d.rule |= flag
	return d
}

func (s *Scope) decideClass(o *Op, class Class, at *Attrs, in []*Tensor) decision {
	switch class {
	case Lower:
		return castOrPass(in, s.auto.dtype, ruleLower)
	case FP32:
		return castOrPass(in, Float32, ruleFP32)
	case FP32Output, FP32Append:
		switch {
		case at.DType != NoDType:
			return decision{rule: ruleExplicit}
		case !eligible(in[0]):
			return decision{rule: ruleUntouched}
		}
		return decision{output: Float32, rule: ruleOutput}
	case Promote:
		return decision{target: s.widest(o, in), rule: rulePromote}
	case Banned:
		fail(o.Name, ErrBanned, safer(o)+", or amp.Force(\""+o.Name+"\", amp.FP32)", "%s", o.Why)
	}
	if o.custom == nil {
		return decision{rule: ruleUnlisted}
	}
	if class == Unlisted && s.auto.unclassified == FP32 {
		return castOrPass(in, Float32, ruleUnclassified)
	}
	return decision{rule: ruleInherit}
}

func castOrPass(in []*Tensor, target DType, r rule) decision {
	for _, t := range in {
		if eligible(t) {
			return decision{target: target, rule: r}
		}
	}
	return decision{rule: ruleUntouched}
}

// widest follows the promote policy: float32 if any eligible input is, else the lower dtype; another half dtype is an error.
func (s *Scope) widest(o *Op, in []*Tensor) DType {
	t := s.auto.dtype
	for _, x := range in {
		switch {
		case !eligible(x):
		case t == Float32 || x.dt == Float32:
			t = Float32
		case x.dt != t:
			fail(o.Name, ErrDType, "cast it first, with amp.To", "unexpected floating type %v under autocast to %v", x.dt, t)
		}
	}
	return t
}

// rules gives the sentence of each rule; %w is replaced by the row's Why, %d by the autocast dtype.
var rules = map[rule]string{
	ruleOff:           "autocast is off: runs in the dtype of its inputs",
	ruleBackward:      "backward: runs in the dtype its forward ran in",
	ruleLower:         "lower: %w",
	ruleFP32:          "fp32: %w",
	ruleOutput:        "fp32 output: %w",
	ruleExplicit:      "the caller asked for this dtype",
	rulePromote:       "promote: widest of its inputs; %w",
	ruleUnlisted:      "unlisted: follows its inputs; %w",
	ruleWidened:       "unlisted: inputs differ, ordinary type promotion; %w",
	ruleUntouched:     "float64 and integers pass through autocast untouched",
	ruleInPlace:       "in place: never autocast",
	ruleCast:          "cast for %b: it runs in %t",
	ruleCastHit:       "served from the weight-cast cache for %b",
	ruleCastUser:      "the program asked for this cast",
	ruleCastPromotion: "type promotion for %b: its inputs differ",
	ruleCastWhole:     "type promotion for %b: it gives real numbers",
	ruleCastInputs:    "CastInputs: an op of this program that was registered with a dtype for its inputs; %w",
	ruleUnclassified:  "no class: float32, as amp.Unclassified asks",
	ruleInherit:       "inherit: an op of this program, it follows its inputs; %w",
	rulePart:          "part of an op whose inputs autocast has decided",
	ruleFP8:           "lower: on operands rounded to 8 bits, as the scope's FP8 asks; %w",
	ruleFP8Left:       "lower: the scope's FP8 leaves this module out; %w",
	ruleFP8Sizes:      fmt.Sprintf("lower: not in 8 bits, since a size is no multiple of %d, or of %d for a scale per block; %%w", product8, scaleBlock),
	ruleCastFP8:       "cast for %b: it reads numbers of 8 bits and their scale",
	ruleCastFP8Back:   "backward: its products read numbers of 8 bits, as the forward product did",
	ruleFP4:           "lower: on operands rounded to 4 bits, as the scope's FP4 asks; %w",
	ruleFP4Left:       "lower: the scope's FP4 leaves this module out; %w",
	ruleFP4Sizes:      fmt.Sprintf("lower: not in 4 bits, since a size is no multiple of %d; %%w", product4),
	ruleCastFP4:       "cast for %b: it reads numbers of 4 bits and their scales",
	ruleCastFP4Back:   "backward: its products read numbers of 4 bits, as the forward product did",
	ruleCastFP4Random: "backward: its products read numbers of 4 bits; gradients are rounded stochastically, which leaves their mean as it is",
	ruleOptimizer:     "optimizer: runs in the dtype of its parameters",
	ruleOptimizerPart: "optimizer: part of a step that is made of several ops",
}

// An Explanation says what a scope would do with an op.
type Explanation struct {
	Op     string
	Class  Class
	Inputs []DType // dtypes asked about
	Run    []DType // dtypes after the casts
	Output DType
	Rule   string
}

// String returns one sentence: "linear(float32, float32) runs in (float16, float16) and gives float16 — lower: …".
func (e Explanation) String() string {
	return fmt.Sprintf("%s(%s) runs in (%s) and gives %v — %s", e.Op, join(e.Inputs), join(e.Run), e.Output, e.Rule)
}

func join(ds []DType) string {
	names := make([]string, len(ds))
	for i, d := range ds {
		names[i] = d.String()
	}
	return strings.Join(names, ", ")
}

// Explain says what scope s would do with an op whose inputs have the given dtypes, without running it. It panics with
// ErrArgument for an unknown op and with what the op would panic with for refused dtypes.
func Explain(s *Scope, op string, inputs ...DType) Explanation {
	s.known("Explain")
	o, ok := LookupOp(op)
	switch {
	case !ok:
		unknownOp("Explain", op)
	case len(inputs) < min(1, len(o.Args)):
		fail("Explain", ErrArgument, "give the dtypes of "+strings.Join(o.Args, ", "), "no dtype for %s", op)
	}
	defer func() {
		r := recover()
		if _, fault := r.(runtime.Error); fault && len(inputs) < len(o.Args) {
			fail("Explain", ErrArgument, "give the dtypes of "+strings.Join(o.Args, ", "), "%d for %s", len(inputs), op)
		}
		if r != nil {
			panic(r)
		}
	}()
	in := make([]*Tensor, len(inputs))
	for i, d := range inputs {
		in[i] = &Tensor{dt: d, shape: []int{1}} // dimensioned, no data
	}
	var at Attrs
	d := s.decideCustom(o, &at, in)
	e := Explanation{Op: op, Class: s.auto.class(o), Inputs: inputs, Run: append([]DType(nil), inputs...)}
	for i, t := range in {
		if d.target != NoDType && eligible(t) {
			t.dt = d.target
		}
		e.Run[i] = t.dt
	}
	if o.Widens {
		common := o.common(in)
		for i, t := range in {
			if t.dt != common {
				d.widen()
			}
			t.dt, e.Run[i] = common, common
		}
	}
	at.DType = d.output
	e.Output = o.result(&Call{Op: o, Attrs: at, In: in})
	e.Rule = sentence(d.rule, o, s.auto.dtype, "")
	if r := s.auto.short; r != nil && o.Short != nil && d.lower() {
		if r.leaves(s.path) {
			e.Rule = sentence(r.rules().left|(d.rule-ruleLower), o, s.auto.dtype, "")
		} else {
			e.Rule += fmt.Sprintf("; of operands rounded to %s where its sizes are multiples of %d", r.rules().bits, r.sizes())
		}
	}
	return e
}

// safer says what to write for an op that autocast refuses.
func safer(o *Op) string {
	if o == opBCE {
		return "leave the sigmoid out and use amp.BCEWithLogits"
	}
	return "use a fused version that is safe under autocast"
}
