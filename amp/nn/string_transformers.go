package nn

import (
	"fmt"
	"strings"
)

// What transformers print.

// tree is a module with its parts as an indented tree, and further lines below them.
func tree(name string, names []string, parts []Module, settings ...string) string {
	var b strings.Builder
	b.WriteString(name + "(\n")
	for i, part := range parts {
		fmt.Fprintf(&b, "  (%s): %s\n", names[i], indented(part))
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
	return []string{"(activation): " + indented(o.Activation), where(o.PreNorm, "pre_norm"), where(o.Causal, "causal"), where(o.Dropout != 0, fmt.Sprintf("dropout=%g", o.Dropout))}
}

// String shows the parts as an indented tree, with the options.
func (l *TransformerEncoderLayer) String() string {
	return tree("TransformerEncoderLayer", encoderParts, l.modules(), l.opts.said()...)
}

// String shows the parts as an indented tree, with the options.
func (l *TransformerDecoderLayer) String() string {
	return tree("TransformerDecoderLayer", decoderParts, l.modules(), l.opts.said()...)
}

// String shows the layers as an indented tree.
func (e *TransformerEncoder) String() string {
	return tree("TransformerEncoder", stackNames(e.modules(), len(e.Layers)), e.modules())
}

// String shows the layers as an indented tree.
func (d *TransformerDecoder) String() string {
	return tree("TransformerDecoder", stackNames(d.modules(), len(d.Layers)), d.modules())
}

// String shows encoder and decoder as an indented tree.
func (t *Transformer) String() string {
	return tree("Transformer", []string{"encoder", "decoder"}, []Module{t.Encoder, t.Decoder})
}
