package nn

import (
	"fmt"
	"strings"
)

// What single layers print, alone or within a Sequential.

// String is the layer with the shapes of its parameters and the options it was made with.
func (l *Conv) String() string {
	text := layer(l)
	if l.name != "" {
		text = l.name + strings.TrimPrefix(text, "Conv")
	}
	if len(l.said) > 0 {
		text = strings.TrimSuffix(text, ")") + ", " + strings.Join(l.said, ", ") + ")"
	}
	return text
}

// String is the layer with its probability.
func (d *Dropout) String() string { return fmt.Sprintf("Dropout(p=%g)", d.P) }

// String shows body and shortcut as an indented tree.
func (r *Residual) String() string {
	shortcut := "its input"
	if r.Shortcut != nil {
		shortcut = indented(r.Shortcut)
	}
	return "Residual(\n  (body): " + indented(r.Body) + "\n  (shortcut): " + shortcut + "\n)"
}

// A shown is a function that has a name and settings to print.
type shown struct {
	Func
	text string
}

// String is the name with the settings, such as MaxPool2d(kernel=2, stride=1).
func (f shown) String() string { return f.text }

// String is the layer with the shapes of what it holds.
func (l *Linear) String() string { return layer(l) }

// String is the layer with the shapes of what it holds.
func (l *BatchNorm) String() string { return layer(l) }

// String is the layer with the shapes of what it holds.
func (l *GroupNorm) String() string { return layer(l) }

// String is the layer with the shapes of what it holds.
func (l *InstanceNorm) String() string { return layer(l) }

// String is the layer with the shapes of what it holds.
func (l *LayerNorm) String() string { return layer(l) }

// String is the layer with the shapes of what it holds.
func (l *RMSNorm) String() string { return layer(l) }

// String is the layer with the shapes of what it holds.
func (l *Embedding) String() string { return layer(l) }

// String is the layer with the shapes of what it holds, the mode, and last_offset where offsets say where the last bag ends.
func (e *EmbeddingBag) String() string {
	return strings.TrimSuffix(layer(e), ")") + ", mode=" + e.Mode.String() + where(e.lastOffset, ", last_offset") + ")"
}

// String is the layer with the shapes of what it holds.
func (l *PReLU) String() string { return layer(l) }

// String is the layer with the shapes of what it holds.
func (l *MultiheadAttention) String() string { return layer(l) }
