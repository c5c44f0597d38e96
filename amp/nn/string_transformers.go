package nn

import (
	"fmt"
	"strings"
)

// What transformers print.

// tree is a module with its children as an indented tree, and further lines below them.
func tree(p Parent, name string, settings ...string) string {
	var b strings.Builder
	b.WriteString(name + "(\n")
	for _, c := range p.Children() {
		fmt.Fprintf(&b, "  (%s): %s\n", c.Name, indented(c.Module))
	}
	for _, set := range settings {
		if set != "" {
			b.WriteString("  " + set + "\n")
		}
	}
	return b.String() + ")"
}

// said are the lines of the options.
func (o TransformerOptions) said() []string {
	return []string{"(activation): " + indented(o.Activation), where(o.PreNorm, "pre_norm"), where(o.Causal, "causal"), where(o.NoBias, "no_bias"), where(o.Dropout != 0, fmt.Sprintf("dropout=%g", o.Dropout))}
}

// String shows the parts as an indented tree, with the options.
func (l *TransformerEncoderLayer) String() string {
	return tree(l, "TransformerEncoderLayer", l.opts.said()...)
}

// String shows the parts as an indented tree, with the options.
func (l *TransformerDecoderLayer) String() string {
	return tree(l, "TransformerDecoderLayer", l.opts.said()...)
}

// String shows the layers as an indented tree.
func (e *TransformerEncoder) String() string {
	return tree(e, "TransformerEncoder")
}

// String shows the layers as an indented tree.
func (d *TransformerDecoder) String() string {
	return tree(d, "TransformerDecoder")
}

// String shows encoder and decoder as an indented tree.
func (t *Transformer) String() string {
	return tree(t, "Transformer")
}
