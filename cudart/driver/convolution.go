package driver

import (
	"fmt"
	"strings"
)

// A ConvolutionKind says which of a convolution's three tensors is computed from the other two.
type ConvolutionKind uint8

// The kinds of convolutions.
const (
	ConvolutionForward ConvolutionKind = iota // Y from X and W
	ConvolutionData                           // X from W and Y: the gradient of the input, and the transposed convolution
	ConvolutionFilter                         // W from X and Y: the gradient of the weight
)

// String returns cuDNN's word.
func (k ConvolutionKind) String() string {
	return [...]string{"forward", "backward data", "backward filter"}[k]
}

// A Convolution is all of a convolution but the addresses, and so the key of its plan. Tensors lie in row-major order without gaps, as
// [n c d h w] with spatial dimensions that are there (2 or 3; one of them is 2 with a height of 1). X is [n, c, …], W [k, c/groups, …],
// Y [n, k, …], and y[n,k,i] = Σ w[k,c,p]·x[n, c, i·stride + p·dilation - before], which cuDNN calls cross-correlation. Sums are float32.
type Convolution struct {
	Kind                            ConvolutionKind
	Type                            DataType // of the three tensors and the bias
	Rank                            int      // spatial dimensions, 2 or 3
	X, W, Y                         [5]int   // Rank+2 of them count
	Before, After, Stride, Dilation [3]int   // Before and After are the padding at both ends
	Bias                            bool     // one number per channel of the result is added before it is rounded; not for ConvolutionFilter
	TF32                            bool     // float32 operands may lose 13 bits of their fractions, on tensor cores
	Nondeterministic                bool     // sums may be taken in another order each time
	Align                           int      // what all addresses are multiples of, at most 16
	Workspace                       uint64   // the most bytes of scratch memory that a plan may want
}

// String names the convolution as a person would look for it: "forward float16 [32 64 56 56] by [128 64 3 3]".
func (c *Convolution) String() string {
	types := map[DataType]string{Float16: "float16", BFloat16: "bfloat16", Float32: "float32", Float64: "float64"}
	n := c.Rank + 2
	s := fmt.Sprintf("%v %s %v by %v to %v, stride %v", c.Kind, types[c.Type], c.X[:n], c.W[:n], c.Y[:n], c.Stride[:c.Rank])
	for _, more := range []struct {
		name string
		v    []int
		none int
	}{{"padding", c.Before[:c.Rank], 0}, {"dilation", c.Dilation[:c.Rank], 1}} {
		for _, v := range more.v {
			if v != more.none {
				s += fmt.Sprintf(", %s %v", more.name, more.v)
				break
			}
		}
	}
	if c.Bias {
		s += ", bias"
	}
	return s
}

// A NumericalNote is what cuDNN tells about how an engine computes: cudnnBackendNumericalNote_t.
type NumericalNote int32

// Numerical notes.
const (
	NoteTensorCore       NumericalNote = 0
	NoteDownConverts     NumericalNote = 1 // inputs, to a narrower type
	NoteReducedReduction NumericalNote = 2 // sums in less than the compute type
	NoteFFT              NumericalNote = 3
	NoteNondeterministic NumericalNote = 4
	NoteWinograd         NumericalNote = 5
	NoteWinograd4x4      NumericalNote = 6
	NoteWinograd6x6      NumericalNote = 7
	NoteWinograd13x13    NumericalNote = 8
)

// refuses says why an engine that carries a note does not do for c; "" if it does.
//
// What Halftone's rows promise decides: sums are float32, their order is the same each time unless the program allows otherwise, and
// float32 operands keep their bits unless TF32 is on (an engine for float32 that uses tensor cores rounds to TF32). Winograd's and
// Fourier's transforms compute other sums, whose errors grow with the tile and are not within the rows' bounds.
func (n NumericalNote) refuses(c *Convolution) string {
	switch n {
	case NoteTensorCore:
		if c.Type == Float32 && !c.TF32 {
			return "rounds to TF32"
		}
	case NoteDownConverts:
		if !c.TF32 || c.Type != Float32 {
			return "rounds its inputs"
		}
	case NoteReducedReduction:
		return "sums in half precision"
	case NoteNondeterministic:
		if !c.Nondeterministic {
			return "is not deterministic"
		}
	case NoteFFT, NoteWinograd, NoteWinograd4x4, NoteWinograd6x6, NoteWinograd13x13:
		return "transforms its inputs"
	}
	return ""
}

// A ConvolutionPlan is how cuDNN computes a convolution.
type ConvolutionPlan struct {
	Workspace uint64 // bytes of scratch memory
	Engine    int64  // its number among those for the operation
	Notes     []NumericalNote

	plan  uintptr
	keeps []uintptr // descriptors that the plan was made of
}

// TensorCores says whether it multiplies on tensor cores.
func (p *ConvolutionPlan) TensorCores() bool {
	for _, n := range p.Notes {
		if n == NoteTensorCore {
			return true
		}
	}
	return false
}

// refusals counts why engines were passed over, for the error when none is left.
type refusals struct {
	reasons []string
	counts  map[string]int
}

func (r *refusals) add(reason string) {
	if r.counts == nil {
		r.counts = map[string]int{}
	}
	if r.counts[reason]++; r.counts[reason] == 1 {
		r.reasons = append(r.reasons, reason)
	}
}

func (r *refusals) String() string {
	if len(r.reasons) == 0 {
		return "its heuristics name no engine"
	}
	parts := make([]string, len(r.reasons))
	for i, reason := range r.reasons {
		parts[i] = fmt.Sprintf("%d %s", r.counts[reason], reason)
	}
	return "of its engines " + strings.Join(parts, ", ")
}
