package amp

import (
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/halftone-ml/halftone/internal/spelling"
)

// A Class says what autocast does with an op's inputs. The lists are the CUDA lists of PyTorch 2.x on every device, so that a
// laptop shows the decisions a GPU would make.
type Class uint8

// The autocast classes.
const (
	Unlisted   Class = iota // runs in the dtype of its inputs, by ordinary type promotion
	Lower                   // inputs cast to the scope's dtype
	FP32                    // inputs cast to float32
	FP32Output              // inputs as they are, result and accumulation in float32
	FP32Append              // as FP32Output, by the overload with a dtype (norm)
	Promote                 // inputs cast to the widest among them
	Banned                  // refused
	Inherit                 // an op of the user's own that was registered to run in the dtype of its inputs
)

var classNames = [...]string{"unlisted", "lower", "fp32", "fp32_output", "fp32_append", "promote", "banned", "inherit"}

// String returns "unlisted", "lower", "fp32", "fp32_output", "fp32_append", "promote", "banned" or "inherit".
func (c Class) String() string {
	if int(c) >= len(classNames) {
		return fmt.Sprintf("class(%d)", uint8(c))
	}
	return classNames[c]
}

// An Op is one row of the op table: everything that is known of an op, in one place.
type Op struct {
	Name  string   // name in the table, the trace, the docs and of the file
	Doc   string   // one sentence with the formula
	Args  []string // names of the inputs, for messages and casts
	Class Class    // autocast class: the CUDA lists of the reference
	Why   string   // why that class, one sentence without a full stop
	// CPUList is the class on the reference's CPU lists, which Lists(CPULists) chooses.
	CPUList Class
	// Bound is the constant c of the row's error bound |y - y₆₄| ≤ c·u·√K·Σ|terms| plus one rounding of the result, with
	// u the unit roundoff of the arithmetic (2⁻²⁴ but for float64) and K the terms of one element; 0 stands for 1.
	Bound float64
	// Widens says that inputs of different dtypes are brought to a common one first, by the ordinary promotion rules.
	Widens bool
	// Line says that the op goes along one dimension, Dims[0], and takes a tensor without dimensions for a line of one element along
	// dimension 0 or -1, and which input's result is without dimensions then, too.
	Line Line
	// InPlace says that the op changes its first input; such ops are never autocast and have no gradient.
	InPlace bool
	// Changes is the number of leading inputs that an InPlace op changes, where it is more than one: optimizers change the state, too.
	Changes int
	// Ints says that the op takes integers too.
	Ints bool
	// Floats says that integers and booleans become float32 before the op, as for PyTorch's functions of real numbers.
	Floats bool
	// Whole returns what the op makes of integers and booleans with other rows, nil where the row itself is to take them or to refuse them; it is
	// asked if the first input holds some, and nil in a row that makes no such difference.
	Whole func(s *Scope, at Attrs, in []*Tensor) *Tensor
	// ByZero says of an op that refuses to divide integers by 0 what it makes of floats then: "NaN", "infinite".
	ByZero string
	// Singular says of an op that refuses a matrix without a factor or an inverse, in a mode, which op is named, what is said of the matrix
	// and the place in it, counted from 1, and what to do about it; no op is named in a mode that takes such matrices. nil for other ops.
	Singular func(mode string) (op, what, fix string)
	// Check panics unless the inputs fit; it returns the result's shape.
	Check func(c *Call) []int
	// Result returns the result's dtype; nil: that of the first input.
	Result func(c *Call) DType
	// Order returns the order in which the result's dimensions lie in memory, from the outermost on, without gaps; nil for row-major order, as
	// in all rows without it.
	Order func(c *Call, shape []int) []int
	// Short says of a product of its first two inputs whether its sizes are the multiples of a number that products of 8 or 4 bits need; nil for a
	// row that never reads any. Backward rounds with Back.short what its own products read.
	Short func(c *Call, multiple int) bool
	// Counted says of a row without a gradient that the op which reads its result counts its derivative in: for a trace of rounding it is a part of
	// that op.
	Counted bool
	// Composite names the rows that the op is made of; such rows have no kernel. Autocast decides them on their inputs (enter).
	Composite []string
	// Parts says of a composite when its parts decide for themselves under autocast.
	Parts Parts
	// View makes the result as a view of the first input; such rows have no kernel.
	View func(c *Call) *Tensor
	// CPU computes c.Out.
	CPU func(c *Call)
	// CUDA is the stem of the kernel's symbol: stem_f16, stem_bf16, stem_f32.
	CUDA string
	// Saves says which tensors Backward reads; others need not be kept.
	Saves Saved
	// Wide makes Backward see halves as float32 and rounds the gradients it sets once, for formulas of several ops: PyTorch's kernels
	// of these gradients compute in float32 too. Products of matrices, masks and moves do without: they round once anyway.
	Wide bool
	// Backward gives the gradients of the inputs by calling table ops; nil for ops without gradient.
	Backward func(b *Back)
	// Part says of a view of one range of a dimension which gradient it gives to what elements of its input, for the backward pass to put
	// several such ranges together: g has the input's sizes but along dim, where it begins at start.
	Part func(b *Back) (g *Tensor, dim, start int)

	custom *Custom // of an op that Register added
}

// A Line says how an op that goes along a dimension takes tensors without dimensions.
type Line uint8

// The rules for tensors without dimensions.
const (
	NoLine     Line = iota // not for an op along one dimension
	LikeFirst              // as lines of one; the result has no dimensions where the first input has none
	LikeSecond             // as lines of one; the result has no dimensions where the second input has none
)

// Parts says who decides the precision of a composite.
type Parts uint8

// The rules for composites.
const (
	Together    Parts = iota // the op is decided on its inputs and its parts follow: PyTorch has one kernel of that name
	Apart                    // PyTorch decomposes it: each part decides for itself where the lists do not name the op
	ApartOnCUDA              // as Apart, and the CUDA lists hold it by its parts alone (cross_entropy)
)

// Saved is a set of the tensors that a Backward reads.
type Saved uint8

// Members of Saved.
const (
	SaveIn0 Saved = 1 << iota
	SaveIn1
	SaveIn2
	SaveIn3
	SaveIn4
	SaveOut
)

// savable is the number of inputs that Backward can read; inputs that it reads come first.
const savable = 5

// Attrs are the arguments of an op that are not tensors.
type Attrs struct {
	Dims      []int       // dimensions of a reduction or transposition
	Shape     []int       // target of reshape and expand
	Keep      bool        // keep reduced dimensions as size 1
	Scalar    float64     // the number of pow_scalar, mul_scalar …
	Pair      [2]float64  // two numbers: low and high of clamp, beta and alpha of addmm
	Start     int         // of narrow
	Reverse   bool        // of cumsum: from the last element on
	DType     DType       // dtype asked for, of a cast or of the result; NoDType if the caller gave none
	Reduce    Reduction   // what a loss does with its elements
	Ignore    int64       // target that nll_loss leaves out, blank of ctc_loss
	Mode      string      // "zeros", "bilinear" …: the variant of ops that have several
	Window    *Window     // of convolutions and pools
	Scales    []float64   // of interpolation: one factor per spatial dimension as the caller gave it, 0 for that of the sizes
	Draw      Draw        // random numbers, of dropout and the like
	Attention *Attention  // of scaled_dot_product_attention
	Update    *Update     // settings of an in-place optimizer op
	Short     shortRecipe // of a product whose operands are rounded to 8 or 4 bits
}

// A Window says how a convolution or pool moves over its input: one number per spatial dimension each.
type Window struct {
	Kernel, Stride, Padding, Dilation []int
	OutputPadding                     []int // of transposed convolutions
	Groups                            int
	Ceil                              bool // round the output size up
	CountPadding                      bool // averages count the padding
}

// A Draw is a piece of a random stream: the same one gives the same numbers, so that a mask need not be kept for backward.
// In a captured step every replay has its own: seed and first block then lie on the device, in the two int64 of Origin, and Block counts
// from there.
type Draw struct {
	Seed, Block uint64
	Origin      *Tensor
}

// A Call is one execution of a row. It is used again for other calls: a device must not keep it once Run has returned.
type Call struct {
	Op *Op
	Attrs
	In  []*Tensor // after the casts; optional ones may be nil
	Out *Tensor
	// Module is the path of the module that calls, such as "net/0", for errors that a device finds only later.
	Module string
	few    [4]*Tensor // In, where it fits
	reads  []*Tensor  // what the kernel reads in place of In, of products in 8 or 4 bits
	node   *node      // of Out on the tape, mostly in one piece of memory with it; nil if no gradient may be asked for
}

var spareCalls = sync.Pool{New: func() any { return new(Call) }}

// newCall returns a call of o; free gives it back.
func newCall(o *Op, at *Attrs, in []*Tensor) *Call {
	c := spareCalls.Get().(*Call)
	c.Op = o
	if !at.none() { // most ops have none, and they are large
		c.Attrs = *at
	}
	c.In = append(c.few[:0], in...)
	return c
}

func (c *Call) free() {
	if !c.Attrs.none() {
		c.Attrs = Attrs{}
	}
	c.In, c.Out, c.Module, c.node, c.reads = nil, nil, "", nil, nil
	clear(c.few[:])
	spareCalls.Put(c)
}

// none says whether nothing is set.
func (a *Attrs) none() bool {
	return a.Dims == nil && a.Shape == nil && !a.Keep &&
		math.Float64bits(a.Scalar)|math.Float64bits(a.Pair[0])|math.Float64bits(a.Pair[1]) == 0 && // -0 is something
		a.Start == 0 && !a.Reverse &&
		a.DType == NoDType && a.Reduce == 0 && a.Ignore == 0 && a.Mode == "" && a.Window == nil && a.Scales == nil &&
		a.Draw == Draw{} && a.Attention == nil && a.Update == nil && a.Short == nil
}

var (
	table  []*Op
	byName = map[string]*Op{}
)

// define adds a row; rows are assigned in init functions, since a Backward names rows again. Inlined in
// each of them it would be 61 KB more of every cell.
//
//go:noinline
func define(o Op) *Op {
	if byName[o.Name] != nil {
		panic("amp: op " + o.Name + " is defined twice")
	}
	replace(&o)
	return &o
}

// Ops iterates over the op table in the order of names.
func Ops() iter.Seq[*Op] {
	tableMu.RLock()
	defer tableMu.RUnlock()
	rows := slices.SortedFunc(slices.Values(table), func(a, b *Op) int {
		if a.Name < b.Name {
			return -1
		}
		return 1
	})
	return slices.Values(rows)
}

// LookupOp returns the row of a name.
func LookupOp(name string) (*Op, bool) {
	tableMu.RLock()
	defer tableMu.RUnlock()
	o := byName[name]
	return o, o != nil
}

// unknownOp panics over a name that the table does not hold; it proposes the row whose name differs in case or underscores alone,
// such as matmul for MatMul, or in a letter or two.
func unknownOp(caller, name string) {
	plain := func(name string) string { return strings.ToLower(strings.ReplaceAll(name, "_", "")) }
	fix := "use a name of amp.Ops(), such as \"linear\""
	var known []string
	same := ""
	for o := range Ops() {
		known = append(known, o.Name)
		if plain(o.Name) == plain(name) {
			same = o.Name
		}
	}
	if same != "" {
		fix = fmt.Sprintf("use %q", same)
	} else if near := spelling.Nearest(name, known); near != "" {
		fix = fmt.Sprintf("use %q, if that is what is meant; amp.Ops() has all names", near)
	}
	fail(caller, ErrArgument, fix, "no op %q in the table", name)
}

// Changed returns how many of the inputs, from the first on, the op changes: 0 unless it works in place.
func (o *Op) Changed() int {
	if o.InPlace {
		return max(1, o.Changes)
	}
	return 0
}

// Own says whether the row is an op of the user's own, which Register added.
func (o *Op) Own() bool { return o.custom != nil }

// Differentiable says whether the row has a gradient.
func (o *Op) Differentiable() bool { return o.Backward != nil }

func (o *Op) argName(i int) string {
	if i < len(o.Args) {
		return o.Args[i]
	}
	return "input"
}
