//go:build linux && (amd64 || arm64)

package driver

import (
	"errors"
	"fmt"
	"unsafe"
)

// Identities of a graph's tensors.
const (
	tensorX = iota + 1
	tensorW
	tensorY
	tensorBias
	tensorSum // before the bias; in no memory
)

// build makes the plan of a convolution.
func (n *DNN) build(op string, c *Convolution) (*ConvolutionPlan, error) {
	if _, ok := dnnTypes[c.Type]; !ok || c.Rank < 2 || c.Rank > 3 || c.Bias && c.Kind == ConvolutionFilter {
		return nil, n.unsupported(c, "it takes two or three spatial dimensions, and no bias for a filter's gradient")
	}
	d := &describer{n: n, op: op}
	graph := d.graph(c)
	if d.err != nil {
		d.drop()
		return nil, fmt.Errorf("%w: %w", n.unsupported(c, "it refuses to describe it"), d.err)
	}
	var why refusals
	for _, mode := range []int32{dnnModeA, dnnModeFallback} {
		plan, err := n.choose(op, graph, mode, c, &why)
		if err != nil {
			d.drop()
			return nil, err
		}
		if plan != nil {
			plan.keeps = append(d.made, plan.keeps...)
			return plan, nil
		}
	}
	d.drop()
	return nil, n.unsupported(c, why.String())
}

// packed are the strides of a tensor in row-major order.
func packed(dims []int64) []int64 {
	strides, n := make([]int64, len(dims)), int64(1)
	for i := len(dims) - 1; i >= 0; i-- {
		strides[i] = n
		n *= dims[i]
	}
	return strides
}

func wide(v []int) []int64 {
	out := make([]int64, len(v))
	for i, n := range v {
		out[i] = int64(n)
	}
	return out
}

// tensor describes a tensor.
func (d *describer) tensor(id int64, t DataType, align int64, virtual bool, dims []int64) uintptr {
	x := d.descriptor(dnnTensor)
	d.setInt32(x, attrTensorType, typeDataType, dnnTypes[t])
	d.setInts(x, attrTensorDims, dims...)
	d.setInts(x, attrTensorStrides, packed(dims)...)
	d.setInts(x, attrTensorID, id)
	d.setInts(x, attrTensorAlign, align)
	if virtual {
		d.setBool(x, attrTensorVirtual, true)
	}
	d.finalize(x)
	return x
}

// graph describes the operation, and a second one that adds the bias to what lies in no memory between them: in float32, so that the
// sum is rounded once.
func (d *describer) graph(c *Convolution) uintptr {
	size := c.Rank + 2
	shapes := [3][]int64{wide(c.X[:size]), wide(c.W[:size]), wide(c.Y[:size])}
	result := map[ConvolutionKind]int{ConvolutionForward: 2, ConvolutionData: 0, ConvolutionFilter: 1}[c.Kind]
	var tensors [3]uintptr
	for i, shape := range shapes {
		if c.Bias && i == result {
			tensors[i] = d.tensor(tensorSum, Float32, 16, true, shape)
		} else {
			tensors[i] = d.tensor(int64(tensorX+i), c.Type, int64(c.Align), false, shape)
		}
	}
	conv := d.descriptor(dnnConvolution)
	d.setInts(conv, attrConvRank, int64(c.Rank))
	d.setInt32(conv, attrConvCompute, typeDataType, dnnTypes[c.sums()])
	d.setInt32(conv, attrConvMode, typeConvMode, dnnCorrelation)
	d.setInts(conv, attrConvDilations, wide(c.Dilation[:c.Rank])...)
	d.setInts(conv, attrConvStrides, wide(c.Stride[:c.Rank])...)
	d.setInts(conv, attrConvBefore, wide(c.Before[:c.Rank])...)
	d.setInts(conv, attrConvAfter, wide(c.After[:c.Rank])...)
	d.finalize(conv)

	kind, first := uintptr(dnnForwardOp), uintptr(attrOpForward)
	switch c.Kind {
	case ConvolutionData:
		kind, first = dnnDataOp, attrOpData
	case ConvolutionFilter:
		kind, first = dnnFilterOp, attrOpFilter
	}
	op := d.descriptor(kind)
	d.setFloat(op, first, 1)
	d.setFloat(op, first+1, 0)
	d.setDescriptors(op, first+2, conv)
	d.setDescriptors(op, first+3, tensors[1])
	d.setDescriptors(op, first+4, tensors[0])
	d.setDescriptors(op, first+5, tensors[2])
	d.finalize(op)
	ops := []uintptr{op}
	if c.Bias {
		ops = append(ops, d.addBias(c, tensors[result], int64(tensorX+result), shapes[result]))
	}
	g := d.descriptor(dnnGraph)
	d.setHandle(g, attrGraphHandle)
	d.setDescriptors(g, attrGraphOps, ops...)
	d.finalize(g)
	return g
}

// sums is the type that products are added in.
func (c *Convolution) sums() DataType {
	if c.Type == Float64 {
		return Float64
	}
	return Float32
}

// addBias describes result = sum + bias.
func (d *describer) addBias(c *Convolution, sum uintptr, id int64, shape []int64) uintptr {
	one := make([]int64, len(shape))
	for i := range one {
		one[i] = 1
	}
	one[1] = shape[1]
	bias, result := d.tensor(tensorBias, c.Type, int64(c.Align), false, one), d.tensor(id, c.Type, int64(c.Align), false, shape)
	add := d.descriptor(dnnPointwise)
	d.setInt32(add, attrPointwiseMode, typePointwiseMode, dnnPointwiseAdd)
	d.setInt32(add, attrPointwiseMath, typeDataType, dnnTypes[c.sums()])
	d.finalize(add)
	op := d.descriptor(dnnPointwiseOp)
	d.setDescriptors(op, attrPointwiseOpDesc, add)
	d.setDescriptors(op, attrPointwiseOpX, sum)
	d.setDescriptors(op, attrPointwiseOpB, bias)
	d.setDescriptors(op, attrPointwiseOpY, result)
	d.finalize(op)
	return op
}

// choose builds the first plan that the heuristics name and c allows; nil if there is none.
func (n *DNN) choose(op string, graph uintptr, mode int32, c *Convolution, why *refusals) (*ConvolutionPlan, error) {
	d := &describer{n: n, op: op}
	defer func() { d.drop() }()
	heur := d.descriptor(dnnHeuristics)
	d.setDescriptors(heur, attrHeurGraph, graph)
	d.setInt32(heur, attrHeurMode, typeHeurMode, mode)
	if n.device != 0 {
		d.setDescriptors(heur, attrHeurDevice, n.device)
	}
	d.finalize(heur)
	count := min(d.get(heur, attrHeurResults, typeDescriptor, 0, nil), dnnMaximumConfig)
	configs := make([]uintptr, max(count, 1))
	for i := range count {
		configs[i] = d.descriptor(dnnEngineConfig)
	}
	if count > 0 {
		count = min(count, d.get(heur, attrHeurResults, typeDescriptor, count, unsafe.Pointer(unsafe.SliceData(configs))))
	}
	if d.err != nil {
		if isUnsupported(d.err) {
			why.add(d.err.Error())
			return nil, nil
		}
		return nil, d.err
	}
	for _, config := range configs[:count] {
		p, reason, err := n.try(op, config, c)
		if err != nil {
			return nil, err
		}
		if p != nil {
			for i, k := range d.made { // the plan's own stays
				if k == config {
					d.made = append(d.made[:i], d.made[i+1:]...)
					break
				}
			}
			p.keeps = append(p.keeps, config)
			return p, nil
		}
		why.add(reason)
	}
	return nil, nil
}

// try builds a plan of one engine and its settings, or says why not.
func (n *DNN) try(op string, config uintptr, c *Convolution) (p *ConvolutionPlan, reason string, err error) {
	d := &describer{n: n, op: op}
	p = &ConvolutionPlan{}
	engine := []uintptr{d.descriptor(dnnEngine)}
	d.get(config, attrConfigEngine, typeDescriptor, 1, unsafe.Pointer(unsafe.SliceData(engine)))
	notes := make([]NumericalNote, dnnMaximumNotes)
	number := make([]int64, 1)
	d.get(engine[0], attrEngineIndex, typeInt64, 1, unsafe.Pointer(unsafe.SliceData(number)))
	p.Engine = number[0]
	p.Notes = notes[:max(0, min(len(notes), d.get(engine[0], attrEngineNotes, typeNote, len(notes), unsafe.Pointer(unsafe.SliceData(notes)))))]
	for _, note := range p.Notes {
		if reason = note.refuses(c); reason != "" {
			d.drop()
			return nil, reason, nil
		}
	}
	p.plan = d.descriptor(dnnPlan)
	d.setHandle(p.plan, attrPlanHandle)
	d.setDescriptors(p.plan, attrPlanConfig, config)
	if n.device != 0 {
		d.setDescriptors(p.plan, attrPlanDevice, n.device)
	}
	d.finalize(p.plan)
	d.get(p.plan, attrPlanWorkspace, typeInt64, 1, unsafe.Pointer(unsafe.SliceData(number)))
	if d.err != nil {
		d.drop()
		var e *Error
		if errors.As(d.err, &e) && e.Kind != ErrMemory {
			return nil, "do not build (" + e.Name + ")", nil
		}
		return nil, "", d.err
	}
	p.Workspace = uint64(number[0])
	if p.Workspace > c.Workspace {
		d.drop()
		return nil, "want more memory than " + Bytes(c.Workspace), nil
	}
	p.keeps = d.made[:len(d.made)-1]
	return p, "", nil
}
