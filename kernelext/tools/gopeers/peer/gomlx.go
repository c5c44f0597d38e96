package main

import (
	"fmt"
	"sync"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/gobackend"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/layers/activation"
	"github.com/gomlx/gomlx/ml/nn"
)

var mlxTypes = map[string]dtypes.DType{"f32": dtypes.Float32, "f64": dtypes.Float64, "f16": dtypes.Float16, "bf16": dtypes.BFloat16}

// mlxBackend runs the ops of a graph one after another and the work inside of an op in parallel: with ops in parallel as well v0.28.0 waits
// for itself for ever where workers start workers and there is one thread.
var mlxBackend = sync.OnceValues(func() (compute.Backend, error) { return gobackend.New("ops_sequential") })

// gomlx has what graphs of GoMLX can do in its Go backend: each case is a graph, compiled before it is timed.
func gomlx(part []string) (func(), error) {
	backend, err := mlxBackend()
	if err != nil {
		return nil, err
	}
	dt, step := dtypes.Float32, false
	if len(part) > 1 {
		dt = mlxTypes[part[1]]
		step = part[len(part)-1] == "step"
	}
	if dt == dtypes.InvalidDType {
		return nil, nil
	}
	switch part[0] {
	case "gemm":
		m, n, k, transposed := product(part)
		if dt.Size() == 2 && m*n*k > 512*512*512 { // half a second at 512³, and half a minute at 2048³
			return nil, nil
		}
		rows, cols := k, n
		if transposed {
			rows, cols = n, k
		}
		in, err := inputs(backend, dt, []int{m, k}, []int{rows, cols})
		return run(backend, func(in []*Node) []*Node {
			b := in[1]
			if transposed {
				b = Transpose(b, 0, 1)
			}
			return []*Node{MatMul(in[0], b)}
		}, in, err)
	case "softmax", "layer_norm", "gelu":
		if dt != dtypes.Float32 {
			return nil, nil
		}
		in, err := inputs(backend, dt, []int{4096, 1024}, []int{4096, 1024}, []int{1024}, []int{1024})
		return run(backend, func(in []*Node) []*Node { return lines(part[0], step, in) }, in, err)
	case "mlp":
		if dt != dtypes.Float32 { // it has no autocast
			return nil, nil
		}
		return mlp(backend)
	}
	return nil, nil
}

// lines is one op on the rows of in[0], and with backward what in[1], the gradient of its result, makes of it.
func lines(op string, backward bool, in []*Node) []*Node {
	x, dy, w, b := in[0], in[1], in[2], in[3]
	var y *Node
	wanted := []*Node{x}
	switch op {
	case "softmax":
		y = Softmax(x, -1)
	case "gelu":
		y = activation.Gelu(x)
	case "layer_norm":
		y, wanted = nn.LayerNorm(x, []int{-1}, 1e-5, w, b, nil), []*Node{x, w, b}
	}
	if !backward {
		return []*Node{y}
	}
	return append([]*Node{y}, Gradient(ReduceAllSum(Mul(y, dy)), wanted...)...)
}

// mlp is a step of SGD: each call takes the parameters that the one before returned.
func mlp(backend compute.Backend) (func(), error) {
	var params []any
	for _, s := range [][]int{{8, 16}, {16}, {16, 16}, {16}, {16, 1}, {1}} {
		n := 1
		for _, d := range s {
			n *= d
		}
		values := random[float32](n)
		for i := range values {
			values[i] *= 0.1
		}
		params = append(params, tensors.FromFlatDataAndDimensions(values, s...))
	}
	x, y := tensors.FromFlatDataAndDimensions(random[float32](512*8), 512, 8), tensors.FromFlatDataAndDimensions(random[float32](512), 512, 1)
	exec, err := NewExec(backend, func(in []*Node) []*Node {
		p := in[2:]
		h := in[0]
		for i := 0; i < len(p); i += 2 {
			h = nn.Dense(h, p[i], p[i+1])
			if i+2 < len(p) {
				h = activation.Relu(h)
			}
		}
		loss := ReduceAllMean(Square(Sub(h, in[1])))
		out := []*Node{loss}
		for i, g := range Gradient(loss, p...) {
			out = append(out, Sub(p[i], MulScalar(g, 1e-3)))
		}
		return out
	})
	if err != nil {
		return nil, err
	}
	step := func() error {
		out, err := exec.Call(append([]any{x, y}, params...)...)
		if err != nil {
			return err
		}
		for i, p := range params {
			if err := p.(*tensors.Tensor).FinalizeAll(); err != nil {
				return err
			}
			params[i] = out[i+1]
		}
		return out[0].FinalizeAll()
	}
	if err := step(); err != nil {
		return nil, err
	}
	return must(step), nil
}

// run compiles a graph; what it returns runs it.
func run(backend compute.Backend, graph func(in []*Node) []*Node, in []*tensors.Tensor, err error) (func(), error) {
	if err != nil {
		return nil, err
	}
	exec, err := NewExec(backend, graph)
	if err != nil {
		return nil, err
	}
	args := make([]any, len(in))
	for i, t := range in {
		args[i] = t
	}
	call := func() error {
		out, err := exec.Call(args...)
		if err != nil {
			return err
		}
		for _, t := range out {
			if err := t.FinalizeAll(); err != nil {
				return err
			}
		}
		return nil
	}
	if err := exec.PreCompile(args...); err != nil {
		return nil, err
	}
	return must(call), nil
}

// must is for calls that should work: measure answers with what the panic says.
func must(f func() error) func() {
	return func() {
		if err := f(); err != nil {
			panic(err)
		}
	}
}

// inputs are tensors of normally distributed numbers.
func inputs(backend compute.Backend, dt dtypes.DType, shapes ...[]int) ([]*tensors.Tensor, error) {
	exec, err := NewExec(backend, func(x *Node) *Node { return ConvertDType(x, dt) })
	if err != nil {
		return nil, err
	}
	var all []*tensors.Tensor
	for _, shape := range shapes {
		n := 1
		for _, d := range shape {
			n *= d
		}
		out, err := exec.Call(tensors.FromFlatDataAndDimensions(random[float32](n), shape...))
		if err != nil {
			return nil, fmt.Errorf("converting to %s: %w", dt, err)
		}
		all = append(all, out...)
	}
	return all, nil
}
