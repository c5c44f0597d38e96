package nn

import (
	"bytes"
	"fmt"
	"io"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"unicode"
	"weak"

	"github.com/halftone-ml/halftone/amp"
)

// Tensors that several modules share. Such a tensor has the name its first owner gives it; PyTorch's state dicts list it under the names
// of the others too. Those are noted here, beside the tensors, of which few have any.

// tied has the further names of tensors: weak.Pointer[amp.Tensor] to []string.
var tied sync.Map

// furtherNames returns the names of t within the other modules that share it.
func furtherNames(t *amp.Tensor) []string {
	names, _ := tied.Load(weak.Make(t))
	list, _ := names.([]string)
	return list
}

func setFurtherNames(t *amp.Tensor, names []string) {
	key := weak.Make(t)
	if _, known := tied.Swap(key, names); !known {
		runtime.AddCleanup(t, func(key weak.Pointer[amp.Tensor]) { tied.Delete(key) }, key)
	}
}

// tie notes a further name of t.
func tie(t *amp.Tensor, name string) {
	if names := furtherNames(t); name != t.Name() && !slices.Contains(names, name) {
		setFurtherNames(t, append(slices.Clone(names), name))
	}
}

// prefixed puts prefix before all names of t.
func prefixed(prefix string, t *amp.Tensor) {
	t.SetName(prefix + "." + t.Name())
	names := slices.Clone(furtherNames(t))
	if len(names) == 0 {
		return
	}
	for i := range names {
		names[i] = prefix + "." + names[i]
	}
	setFurtherNames(t, names)
}

// nameWithin returns the name of t within a module, "" where that is not known: t may be a tensor of a module of this package alone, at any
// depth. The name that t has is the one its first owner gave it.
func nameWithin(m Module, t *amp.Tensor) string {
	for _, c := range Children(m) {
		if name := nameWithin(c.Module, t); name != "" {
			return c.Name + "." + name
		}
	}
	of := held(m)
	if name := nameOfPart(of, t); name != "" {
		return name
	}
	v := reflect.Indirect(reflect.ValueOf(of))
	if v.Kind() != reflect.Struct || v.Type().PkgPath() != reflect.TypeFor[Linear]().PkgPath() {
		return ""
	}
	switch of.(type) {
	case *ViT, *PositionalEncoding: // their tensors have other names than the fields
		return ""
	}
	return nameOfField(v, t)
}

// nameOfField looks for t in the exported fields of a layer, which are named as PyTorch's in Go's spelling.
func nameOfField(v reflect.Value, t *amp.Tensor) string {
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if !f.IsExported() {
			continue
		}
		if f.Anonymous && f.Type.Kind() == reflect.Struct { // the CellParameters of a cell, the Embedding of an EmbeddingBag
			if name := nameOfField(v.Field(i), t); name != "" {
				return name
			}
		}
		if v.Field(i).Interface() == any(t) {
			return torchName(f.Name)
		}
	}
	return ""
}

// torchName spells InProjWeight as in_proj_weight and WeightIH as weight_ih.
func torchName(field string) string {
	if field == "NumBatches" {
		return "num_batches_tracked"
	}
	var b strings.Builder
	runes := []rune(field)
	for i, r := range runes {
		if i > 0 && unicode.IsUpper(r) && (unicode.IsLower(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// joinTied takes the further names of the module's tensors out of a state: it returns the state with one name for each tensor, and what
// is wrong where two names of one tensor have different values.
func joinTied(own, state map[string]*amp.Tensor) (map[string]*amp.Tensor, []string) {
	joined, copied := state, false
	var faults []string
	for name, t := range own {
		for _, further := range furtherNames(t) {
			from := state[further]
			if from == nil || own[further] != nil {
				continue
			}
			if !copied {
				joined, copied = make(map[string]*amp.Tensor, len(state)), true
				for k, v := range state {
					joined[k] = v
				}
			}
			delete(joined, further)
			if first := joined[name]; first == nil {
				joined[name] = from
			} else if !sameBits(first, from) {
				faults = append(faults, fmt.Sprintf("%s differs from %s, and the module ties them", further, name))
			}
		}
	}
	return joined, faults
}

// sameBits says whether two tensors have the same dtype, shape and bits.
func sameBits(a, b *amp.Tensor) bool {
	if a == b {
		return true
	}
	if a.DType() != b.DType() || !slices.Equal(a.Shape(), b.Shape()) {
		return false
	}
	var bits bytes.Buffer
	write(&bits, a)
	rest := remainder(bits.Bytes())
	write(&rest, b)
	return len(rest) == 0
}

func write(w io.Writer, t *amp.Tensor) {
	if err := amp.WriteRaw(w, t); err != nil {
		panic(err) // neither writer fails
	}
}

// A remainder is what is left of bytes when those written to it, the same ones, are taken off; once others are written it stays as it is.
type remainder []byte

func (r *remainder) Write(p []byte) (int, error) {
	if rest, same := bytes.CutPrefix(*r, p); same {
		*r = rest
	}
	return len(p), nil
}
