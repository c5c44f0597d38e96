package nn

import (
	"fmt"
	"strings"

	"github.com/halftone-ml/halftone/amp"
)

// What layers of sequences and images print that are more than their parameters' shapes.

// written joins a name and the settings that are not empty.
func written(name string, settings ...string) string {
	var said []string
	for _, s := range settings {
		if s != "" {
			said = append(said, s)
		}
	}
	return name + "(" + strings.Join(said, ", ") + ")"
}

// where is text if set, else nothing.
func where(set bool, text string) string {
	if set {
		return text
	}
	return ""
}

// String is the layer with the shapes of what it holds.
func (l *Bilinear) String() string {
	return written("Bilinear", append(shapesOf(append(l.Parameters(), l.Buffers()...)), parametrizedBy(l))...)
}

// String is the layer with the size, or the factors, and the mode.
func (u *Upsample) String() string {
	mode := u.Mode
	if mode == "" {
		mode = "nearest"
	}
	return written("Upsample", where(u.Size != nil, fmt.Sprintf("size=%v", u.Size)), where(u.Scale != nil, fmt.Sprintf("scale=%v", u.Scale)), "mode="+mode,
		where(u.AlignCorners, "align_corners"), where(u.Antialias, "antialias"), where(u.RecomputeScale, "recompute_scale"))
}

// String is the layer with its pads and the mode.
func (p *Pad) String() string {
	return written("Pad", fmt.Sprintf("pads=%v", p.Pads), "mode="+p.Mode, where(p.Value != 0, fmt.Sprintf("value=%g", p.Value)))
}

// sizes are a cell's features in and out, and what its parameters are not by default.
func (c CellParameters) sizes() []string {
	hidden := c.WeightHH
	if c.WeightHR != nil {
		hidden = c.WeightHR
	}
	return []string{fmt.Sprintf("in=%d", c.WeightIH.Shape()[1]), fmt.Sprintf("hidden=%d", hidden.Dim(-1)),
		where(c.BiasIH == nil, "no_bias"), where(c.WeightHH.DType() != amp.Float32, c.WeightHH.DType().String())}
}

// String is the cell with its sizes.
func (c *RNNCell) String() string {
	return written("RNNCell", append(c.sizes(), where(c.ReLU, "relu"))...)
}

// String is the cell with its sizes.
func (c *GRUCell) String() string { return written("GRUCell", c.sizes()...) }

// String is the cell with its sizes.
func (c *LSTMCell) String() string { return written("LSTMCell", c.sizes()...) }

// described is a recurrent network with its sizes and options.
func (r *Recurrent) described(name string) string {
	o := r.opts
	return written(name, append(r.Cells[0].sizes(), where(o.Layers > 1, fmt.Sprintf("layers=%d", o.Layers)), where(o.ReLU, "relu"),
		where(o.Bidirectional, "bidirectional"), where(o.BatchFirst, "batch_first"),
		where(o.ProjSize != 0, fmt.Sprintf("proj_size=%d", o.ProjSize)), where(o.Dropout != 0, fmt.Sprintf("dropout=%g", o.Dropout)))...)
}

// String is the network with its sizes and options.
func (r *RNN) String() string { return r.described("RNN") }

// String is the network with its sizes and options.
func (r *GRU) String() string { return r.described("GRU") }

// String is the network with its sizes and options.
func (r *LSTM) String() string { return r.described("LSTM") }

// String is the layer with its table, and whether that is learned.
func (p *PositionalEncoding) String() string {
	return written("PositionalEncoding", shapeOf(p.Table), where(p.learned, "learned"), where(p.Dropout != 0, fmt.Sprintf("dropout=%g", p.Dropout)))
}
