package cudart

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/cudart/driver"
)

// A recorder is a driver that computes nothing and keeps no bytes: it lists what a program queues, at any size. The device is an H200 as
// far as sizes go.
type recorder struct {
	*fake
	names map[driver.Function]string
	list  []launched // since the last reset
	op    string     // that runs, for what has no name of its own
	call  launched   // of which nothing was launched yet

	plans map[*driver.ConvolutionPlan]driver.Convolution
}

// A launched is one thing that was queued: a kernel, a call of a library, a fill or a copy.
type launched struct {
	op, kernel string
	detail     string
	flops      float64
	bytes      int
}

func (r *recorder) add(l launched) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if l.op == "" {
		l.op = r.op
	}
	r.list = append(r.list, l)
	return nil
}

func (r *recorder) Properties(driver.Device) (driver.Properties, error) {
	return driver.Properties{Name: "Recorder", Major: 9, Memory: r.total, Multiprocessors: 132, MaxThreadsPerBlock: 1024, MaxThreadsPerMP: 2048,
		SharedPerBlock: 48 << 10, SharedPerBlockOptin: 227 << 10, SharedPerMP: 228 << 10}, nil
}

// Alloc gives addresses without memory.
func (r *recorder) Alloc(n uint64) (driver.DevicePtr, error) {
	defer r.lock("Alloc")()
	p := r.next
	r.next += driver.DevicePtr(n+4095) &^ 4095
	r.used += n
	return p, nil
}

func (r *recorder) Free(driver.DevicePtr) error                  { return nil }
func (r *recorder) SyncStream(driver.Stream) error               { defer r.lock("SyncStream")(); return nil }
func (r *recorder) SyncEvent(driver.Event) error                 { defer r.lock("SyncEvent")(); return nil }
func (r *recorder) EventDone(driver.Event) (bool, error)         { return true, nil }
func (r *recorder) DestroyEvent(driver.Event) error              { return nil }
func (r *recorder) StreamWait(driver.Stream, driver.Event) error { return nil }
func (r *recorder) RecordEvent(e driver.Event, s driver.Stream) error {
	defer r.lock("RecordEvent")()
	return nil
}

func (r *recorder) CopyHtoDAsync(_ driver.DevicePtr, src []byte, _ driver.Stream) error {
	return r.add(launched{kernel: "copy to the device", bytes: len(src)})
}

func (r *recorder) CopyDtoHAsync(dst []byte, _ driver.DevicePtr, _ driver.Stream) error {
	return r.add(launched{kernel: "copy to the host", bytes: len(dst)})
}

func (r *recorder) CopyDtoD(_, _ driver.DevicePtr, n uint64, _ driver.Stream) error {
	return r.add(launched{kernel: "copy on the device", bytes: 2 * int(n)})
}

func (r *recorder) Memset8(_ driver.DevicePtr, _ uint8, n uint64, _ driver.Stream) error {
	return r.add(launched{kernel: "memset", bytes: int(n)})
}

func (r *recorder) Memset16(_ driver.DevicePtr, _ uint16, n uint64, _ driver.Stream) error {
	return r.add(launched{kernel: "memset", bytes: 2 * int(n)})
}

func (r *recorder) Memset32(_ driver.DevicePtr, _ uint32, n uint64, _ driver.Stream) error {
	return r.add(launched{kernel: "memset", bytes: 4 * int(n)})
}

func (r *recorder) LoadModule([]byte, driver.JIT) (driver.Module, string, error) { return 1, "", nil }

func (r *recorder) Function(_ driver.Module, name string) (driver.Function, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f := driver.Function(len(r.names) + 1)
	r.names[f] = name
	return f, nil
}

func (r *recorder) SetFunctionAttribute(driver.Function, driver.FunctionAttribute, int) error {
	return nil
}
func (r *recorder) FunctionAttribute(driver.Function, driver.FunctionAttribute) (int, error) {
	return 64, nil
}
func (r *recorder) ActiveBlocks(driver.Function, int, int) (int, error) { return 2, nil }

func (r *recorder) Launch(f driver.Function, grid, block [3]uint32, shared uint32, _ driver.Stream, a *driver.Args) error {
	return r.add(r.launch(f, a))
}

// launch is what a kernel's launch is listed as.
func (r *recorder) launch(f driver.Function, a *driver.Args) launched {
	l := launched{op: a.Op, kernel: r.names[f]}
	if n, ok := listed(l.kernel, a); ok {
		l.bytes = n
		if strings.HasPrefix(l.kernel, r.call.op) {
			r.call = launched{} // this was its own
		}
	} else if r.call.op == l.op {
		l.bytes, l.flops = r.call.bytes, r.call.flops
		r.call = launched{}
	}
	return l
}

// sizes are the bytes of an element by the end of a kernel's name.
var sizes = map[string]int{"w8": 1, "w16": 2, "w32": 4, "w64": 8, "f16": 2, "bf16": 2, "f32": 4, "f64": 8, "i64": 8, "b8": 1}

// listed returns what a kernel reads and writes by its own arguments: copies, fills and casts, which many ops make besides their own
// kernels, and what is launched for several calls together.
func listed(kernel string, a *driver.Args) (bytes int, ok bool) {
	parts := strings.Split(kernel, "_")
	size, last := sizes[parts[min(1, len(parts)-1)]], sizes[parts[len(parts)-1]]
	elements := func(n []int64, count int32) (sum int) {
		for _, n := range n[:count] {
			sum += int(n)
		}
		return sum
	}
	switch parts[0] {
	case "copy", "fill", "cast", "accumulate":
		n := int((*mapArgs)(a.Param(0)).n)
		return n * map[string]int{"copy": 2 * size, "fill": size, "cast": size + last, "accumulate": 2*size + last}[parts[0]], true
	case "layer", "rms":
		if p := (*lineArgs)(a.Param(0)); strings.HasSuffix(kernel, "_f32_f16") { // of a dy of halves
			n := int(p.lines) * int(p.n)
			if p.in[3] != 0 { // and a gradient to add to
				return n * (3*4 + 2), true
			}
			return n * (2*4 + 2), true
		}
	case "norm":
		if p := (*lineArgs)(a.Param(0)); parts[1] == "columns" { // which reads x and dy again
			return int(p.lines) * int(p.n) * (sizes[parts[2]] + last), true
		}
	case "copies", "casts":
		u := (*copyArgs)(a.Param(0))
		return (size + last) * elements(u.n[:], u.count), true
	case "unscale":
		u, passes, n := (*unscaleArgs)(a.Param(0)), 2, 0
		if u.flags&unscaleKeep != 0 {
			passes = 1
		}
		for k, elements := range u.n[:u.count] {
			if u.told[k] == 0 {
				n += int(elements)
			}
		}
		return passes * size * n, true
	case "sgd", "adam", "rmsprop", "adagrad", "adamax", "nadam", "radam", "adadelta", "rprop", "asgd":
		u, passes := (*updateArgs)(a.Param(0)), 3 // of the parameter, and one of the gradient
		if u.inv != 0 && u.flags&updateLeave == 0 {
			passes++ // it is written back
		}
		for _, state := range u.ptr[2:] {
			if state[0] != 0 {
				passes += 2
			}
		}
		return passes * size * elements(u.n[:], u.count), true
	}
	return 0, false
}

// A recorded device tells its driver which call of a row runs.
type recorded struct {
	*device
	r *recorder
}

func (d *recorded) Run(c *amp.Call) error {
	r := d.r
	r.op, r.call = c.Op.Name, launched{op: c.Op.Name, bytes: callBytes(c), flops: callFlops(c)}
	err := d.device.Run(c)
	r.op, r.call = "", launched{}
	return err
}

// callBytes is what a row reads and writes: each tensor once, as many elements as it has in memory.
func callBytes(c *amp.Call) int {
	n := 0
	for _, t := range append(slices.Clone(c.In), c.Out) {
		if t != nil {
			n += extent(t)
		}
	}
	return n
}

func extent(t *amp.Tensor) int {
	n, at := t.DType().Size(), t.Layout()
	for d, size := range at.Shape {
		if at.Strides[d] != 0 {
			n *= size
		}
	}
	return n
}

// callFlops counts attention, whose multiplications are not those of a product.
func callFlops(c *amp.Call) float64 {
	first, products := 0, 2.0
	switch c.Op.Name {
	case "attention_backward":
		first, products = 1, 5
	case "scaled_dot_product_attention":
	default:
		return 0
	}
	q, k := c.In[first].Shape(), c.In[first+1].Shape()
	n := 2 * products * float64(k[len(k)-2])
	for _, d := range q {
		n *= float64(d)
	}
	if c.Attention.Causal {
		n /= 2
	}
	return n
}

// A recordedLibrary is cuBLAS, cublasLt and cuDNN.
type recordedLibrary struct{ *recorder }

// Gemm and Matmul are cuBLAS and cublasLt.
func (r recordedLibrary) Gemm(g *driver.Gemm) error { return r.add(multiplied("cublas", g)) }

func (r recordedLibrary) Matmul(g *driver.Fused, _ driver.Stream) error { return r.add(fused(g)) }

func fused(g *driver.Fused) launched {
	return multiplied(fmt.Sprintf("cublasLt epilogue %d", g.Epilogue), &g.Gemm)
}

func multiplied(kernel string, g *driver.Gemm) launched {
	n := max(1, g.Batch)
	of := func(rows, columns int, stride int64) int {
		if n > 1 && stride == 0 {
			return rows * columns
		}
		return n * rows * columns
	}
	elements := of(g.M, g.K, g.StrideA) + of(g.K, g.N, g.StrideB)
	return launched{op: g.Op, kernel: kernel, detail: fmt.Sprintf("%d×%d×%d of %d, %t %t", g.M, g.N, g.K, n, g.TransA, g.TransB),
		flops: 2 * float64(g.M) * float64(g.N) * float64(g.K) * float64(n), bytes: elements*g.TypeAB.Size() + n*g.M*g.N*g.TypeC.Size()}
}

func (r recordedLibrary) Path() string { return "recorder" }
func (r recordedLibrary) Version() int { return 130000 }

// Plan, Plans and Convolve are cuDNN, which turns half tensors in its workspace.
func (r recordedLibrary) Plan(_ string, c driver.Convolution) (*driver.ConvolutionPlan, error) {
	for p, k := range r.plans {
		if k == c {
			return p, nil
		}
	}
	p := &driver.ConvolutionPlan{Engine: int64(len(r.plans))}
	if c.Type == driver.Float16 {
		p.Workspace = uint64(convolved(&c))
	}
	r.plans[p] = c
	return p, nil
}

func (r recordedLibrary) Plans(func(driver.Convolution, *driver.ConvolutionPlan, error)) {}

func (r recordedLibrary) Convolve(op string, p *driver.ConvolutionPlan, _, _, _, _, _ driver.DevicePtr) error {
	return r.add(r.convolution(op, p))
}

func (r recordedLibrary) convolution(op string, p *driver.ConvolutionPlan) launched {
	c := r.plans[p]
	return launched{op: op, kernel: "cudnn", detail: c.String(), flops: 2 * float64(multiplications(&c)), bytes: convolved(&c)}
}

// convolved is the bytes of a convolution's three tensors.
func convolved(c *driver.Convolution) int {
	n := 0
	for _, shape := range [][5]int{c.X, c.W, c.Y} {
		of := c.Type.Size()
		for _, d := range shape[:c.Rank+2] {
			of *= d
		}
		n += of
	}
	return n
}

var recorders int

// onRecorder opens a device that records, with cuBLAS and cuDNN.
func onRecorder(t testing.TB) (*recorder, *recorded, *amp.Scope) {
	t.Helper()
	kind := fmt.Sprintf("recorder%d", recorders)
	recorders++
	r := &recorder{fake: newFake(141 << 30), names: map[driver.Function]string{}, plans: map[*driver.ConvolutionPlan]driver.Convolution{}}
	var dev *recorded
	amp.RegisterDevice(kind, func(index int) (amp.Device, error) {
		d, err := newDevice(r, false, index)
		if err != nil {
			return nil, err
		}
		dev = &recorded{d.(*device), r}
		dev.name = kind + ":0"
		lib := recordedLibrary{r}
		dev.products.once.Do(func() { dev.products.blas, dev.products.lt = lib, lib })
		dev.convs.once.Do(func() { dev.convs.dnn, dev.convs.limit = lib, dev.props.Memory/dnnShare })
		return dev, nil
	})
	s := amp.NewScope(amp.On(kind), amp.Seed(1))
	t.Cleanup(s.Close)
	return r, dev, s
}
