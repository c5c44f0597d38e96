package cudart

import (
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/cudart/driver"
)

// Convolutions through cuDNN, where it is: loaded at the first one that is large enough to pay for it. Its heuristics choose an engine for
// each shape and dtype once; tensors stay as they are (channels before places), and where an engine wants channels last, it turns them
// in its own workspace. What cuDNN does not take is computed by Halftone's kernels, and Convolutions says why.
//
// Batch norms stay with Halftone's kernels: the rows split them (statistics, result, sums, gradient), so that statistics are accumulated
// in float64 and gradients of any order can be had, and cuDNN has no operation for a part. (Its whole operation has no phase for
// inference, and all its engines for training are compiled at run time; seen in the answers of 9.28.0.)

// dnnFrom is the number of multiplications from which a convolution goes to cuDNN: loading it takes hundreds of milliseconds and each
// plan some, which a notebook of small convolutions does without.
const dnnFrom = 1 << 24

// dnnShare is the part of the device's memory that a convolution may have to work in.
const dnnShare = 8

// DNNEnv names the variable that says which convolutions go to cuDNN: "off" none, "all" the small ones too; otherwise those that pay.
const DNNEnv = "HALFTONE_CUDNN"

var noDNN, disordered atomic.Bool

// UseCuDNN(false) computes all convolutions with Halftone's own kernels; it returns what was set before.
func UseCuDNN(on bool) (before bool) { return !noDNN.Swap(!on) }

// Deterministic(false) lets cuDNN add sums in another order each time, which may be faster; it is on, unlike PyTorch's
// torch.backends.cudnn.deterministic. Halftone's own kernels always keep their order. It returns what was set before.
func Deterministic(on bool) (before bool) { return !disordered.Swap(!on) }

// convolvers are a device's handle of cuDNN.
type convolvers struct {
	once  sync.Once
	dnn   dnn
	err   error  // why there is no cuDNN
	limit uint64 // of a convolution's workspace
}

// dnn is cuDNN.
type dnn interface {
	Plan(op string, c driver.Convolution) (*driver.ConvolutionPlan, error)
	Plans(f func(c driver.Convolution, p *driver.ConvolutionPlan, err error))
	Convolve(op string, p *driver.ConvolutionPlan, x, w, y, bias, workspace driver.DevicePtr) error
	Path() string
	Version() int
}

// ready opens cuDNN at the first call; the context is bound.
func (v *convolvers) ready(d *device) {
	v.once.Do(func() {
		v.limit = d.props.Memory / dnnShare
		v.load(d)
	})
}

// CuDNN returns the library that a device's large convolutions go through: its file and version, such as 92800 for 9.28, or why there is
// none.
func CuDNN(name string) (path string, version int, err error) {
	dev, _, err := amp.OpenDevice(name)
	if err != nil {
		return "", 0, err
	}
	d, ok := dev.(*device)
	if !ok {
		return "", 0, ErrNoCUDA
	}
	if err := d.do(func() error { d.convs.ready(d); return d.convs.err }); err != nil {
		return "", 0, err
	}
	return d.convs.dnn.Path(), d.convs.dnn.Version(), nil
}

// A ConvolutionChoice is who computes a convolution on a device.
type ConvolutionChoice struct {
	Convolution string // "forward float16 [32 64 56 56] by [128 64 3 3] to …"
	Engine      int64  // cuDNN's number of the engine; -1 is Halftone's kernel
	TensorCores bool   // of cuDNN's engine
	Workspace   uint64 // bytes
	Why         string // why it is not cuDNN; "" if it is
}

// Convolutions lists what was chosen on a device for the convolutions that were large enough for cuDNN, sorted by their descriptions.
// It is empty where there is no cuDNN: see CuDNN for why.
func Convolutions(name string) ([]ConvolutionChoice, error) {
	if _, _, err := CuDNN(name); err != nil {
		return nil, err
	}
	dev, _, err := amp.OpenDevice(name)
	if err != nil {
		return nil, err
	}
	var list []ConvolutionChoice
	dev.(*device).convs.dnn.Plans(func(c driver.Convolution, p *driver.ConvolutionPlan, err error) {
		choice := ConvolutionChoice{Convolution: c.String(), Engine: -1}
		if err != nil {
			choice.Why = err.Error()
		} else {
			choice.Engine, choice.TensorCores, choice.Workspace = p.Engine, p.TensorCores(), p.Workspace
		}
		list = append(list, choice)
	})
	slices.SortFunc(list, func(a, b ConvolutionChoice) int { return strings.Compare(a.Convolution, b.Convolution) })
	return list, nil
}

// dnnLeast is the least number of multiplications for cuDNN, negative for never.
var dnnLeast = func() *atomic.Int64 {
	n := new(atomic.Int64)
	switch os.Getenv(DNNEnv) {
	case "off":
		n.Store(-1)
	case "all":
	default:
		n.Store(dnnFrom)
	}
	return n
}()
