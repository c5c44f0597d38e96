package dataset

import (
	"fmt"

	"github.com/halftone-ml/halftone/amp"
)

// ByteVocabulary is the number of byte-level tokens: the size of a model's embedding and of its logits.
const ByteVocabulary = 256

// Text is a text as byte-level tokens: each byte is a token from 0 to 255.
type Text struct {
	Data []byte
	Name string // where it comes from, for logs
}

// Split returns the first share of the text, for training, and the rest, for validation, in shared memory. The share is from 0
// to 1; 0.9 is usual.
func (t Text) Split(share float64) (train, validation Text) {
	if !(share >= 0 && share <= 1) {
		misused("Text.Split", "use a share from 0 to 1", "%v", share)
	}
	n := int(float64(len(t.Data)) * share)
	return Text{t.Data[:n:n], t.Name}, Text{t.Data[n:], t.Name}
}

// Windows returns the pieces of length tokens that begin at every stride-th byte. Each is an input; its target is the piece one
// byte further on, so that position i of the target is the token that follows position i of the input. For training take stride 1
// and draw from the windows at random; for validation take stride = length, so that every token is predicted once:
//
//	train := dataset.NewLoader(text.Windows(64, 1), 16, dataset.Draw(1000*16, 1))
//
// It panics with amp.ErrArgument when the text has not even one window.
func (t Text) Windows(length, stride int) *Windows {
	if length < 1 || stride < 1 {
		misused("Text.Windows", "use a length and a stride of 1 or more", "length %d, stride %d", length, stride)
	}
	if len(t.Data) <= length {
		misused("Text.Windows", "use shorter windows or a longer text", "windows of %d tokens and the next one in a text of %d bytes", length, len(t.Data))
	}
	return &Windows{t.Data, length, stride}
}

// Windows is a Dataset of pieces of a Text; see Text.Windows.
type Windows struct {
	data           []byte
	length, stride int
}

// Len returns the number of windows.
func (w *Windows) Len() int { return (len(w.data)-w.length-1)/w.stride + 1 }

// Spec returns int64 inputs and targets of the windows' length.
func (w *Windows) Spec() Spec {
	return Spec{Shape: []int{w.length}, DType: amp.Int64, Target: []int{w.length}}
}

// Sample writes window i and what follows each of its tokens.
func (w *Windows) Sample(i int, dst *Sample) error {
	from := i * w.stride
	piece := w.data[from : from+w.length+1]
	for k, b := range piece[:w.length] {
		dst.Tokens[k] = int64(b)
		dst.Y[k] = int64(piece[k+1])
	}
	return nil
}

// Encode returns the tokens of a text: its bytes.
func Encode(text string) []int64 {
	tokens := make([]int64, len(text))
	for i := range len(text) {
		tokens[i] = int64(text[i])
	}
	return tokens
}

// Decode returns the text of tokens; it panics with amp.ErrArgument for one outside 0 to 255. What a model made up need not be
// valid UTF-8.
func Decode(tokens []int64) string {
	text := make([]byte, len(tokens))
	for i, t := range tokens {
		if t < 0 || t >= ByteVocabulary {
			misused("Decode", "pass tokens from 0 to 255", "token %d at %d", t, i)
		}
		text[i] = byte(t)
	}
	return string(text)
}

// String names the text and its size.
func (t Text) String() string { return fmt.Sprintf("%s, %d bytes", t.Name, len(t.Data)) }
