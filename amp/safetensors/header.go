package safetensors

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math/bits"
	"slices"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// An Info says what a file holds under one name.
type Info struct {
	Name  string
	DType string // the format's name: "F32", "BF16" …
	Shape []int
	Begin int64 // first byte, counted from the start of the file
	End   int64 // first byte after it

	rank int
}

// maxElements is the limit of amp's shapes.
const maxElements = 1 << 48

// readHeader reads and checks everything but the elements.
func readHeader(r io.ReaderAt, size int64) ([]Info, map[string]string, error) {
	var length [8]byte
	if size < 8 {
		return nil, nil, broken("%d bytes are too few for a header", size)
	}
	if _, err := io.ReadFull(io.NewSectionReader(r, 0, 8), length[:]); err != nil {
		return nil, nil, fmt.Errorf("safetensors: reading the header's length: %w", err)
	}
	n := binary.LittleEndian.Uint64(length[:])
	switch {
	case string(length[:4]) == "PK\x03\x04" && (n > maxHeader || int64(n) > size-8): // as a length it would be possible
		return nil, nil, broken("it is a zip archive, as torch.save writes; convert it in Python with " +
			"safetensors.torch.save_file(torch.load(path, weights_only=True), other), for a dict of tensors such as a state_dict")
	case n > maxHeader:
		return nil, nil, broken("the header claims %d bytes, and %d are allowed", n, maxHeader)
	case int64(n) > size-8:
		return nil, nil, broken("the header claims %d bytes, the file has %d", n, size-8)
	}
	// ReadAll grows with what is really there.
	text, err := io.ReadAll(io.NewSectionReader(r, 8, int64(n)))
	if err != nil {
		return nil, nil, fmt.Errorf("safetensors: reading the header: %w", err)
	}
	if uint64(len(text)) != n {
		return nil, nil, broken("the header claims %d bytes, and ends after %d", n, len(text))
	}
	infos, metadata, err := parseHeader(text)
	if err != nil {
		return nil, nil, err
	}
	start := int64(8 + n)
	if err := checkLayout(infos, start, size); err != nil {
		return nil, nil, err
	}
	return infos, metadata, nil
}

// parseHeader reads the JSON strictly: every name once.
func parseHeader(text []byte) ([]Info, map[string]string, error) {
	if len(text) == 0 || text[0] != '{' {
		return nil, nil, broken("the header does not begin with {")
	}
	if !utf8.Valid(text) {
		return nil, nil, broken("the header is not UTF-8")
	}
	if loneSurrogate(text) {
		return nil, nil, broken("the header has half of a surrogate pair, which is no character")
	}
	d := json.NewDecoder(bytes.NewReader(text))
	var infos []Info
	var metadata map[string]string
	seen := map[string]bool{}
	err := object(d, func(name string) error {
		if seen[name] {
			return fmt.Errorf("name %q is used twice", name)
		}
		seen[name] = true
		if name == metadataKey {
			var err error
			metadata, err = readMetadata(d)
			return err
		}
		info, err := readInfo(d)
		info.Name = name
		infos = append(infos, info)
		if err != nil {
			return fmt.Errorf("tensor %q: %w", name, err)
		}
		return nil
	})
	if err != nil {
		return nil, nil, broken("header: %v", err)
	}
	if rest := bytes.Trim(text[d.InputOffset():], " \t\r\n"); len(rest) > 0 {
		return nil, nil, broken("header: text after its end")
	}
	return infos, metadata, nil
}

// loneSurrogate says whether JSON text escapes half of a surrogate pair, for which the decoder would give another character without a word:
// two names could become one.
func loneSurrogate(text []byte) bool {
	for i := 0; i < len(text)-1; i++ {
		if text[i] != '\\' {
			continue
		}
		r, ok := escaped(text[i:])
		i++ // what is escaped, which may be a backslash
		if !ok || !utf16.IsSurrogate(r) {
			continue
		}
		low, _ := escaped(text[min(i+5, len(text)):])
		if utf16.DecodeRune(r, low) == utf8.RuneError {
			return true
		}
		i += 10
	}
	return false
}

// escaped reads \uXXXX.
func escaped(text []byte) (rune, bool) {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(text[2:6]), 16, 16)
	return rune(n), err == nil
}

// object calls f after each key of a JSON object; f reads the value.
func object(d *json.Decoder, f func(key string) error) error {
	t, err := d.Token()
	if err != nil {
		return err
	}
	if t != json.Delim('{') {
		return fmt.Errorf("%v where an object should be", t)
	}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return err
		}
		key, ok := t.(string)
		if !ok {
			return fmt.Errorf("%v where a name should be", t)
		}
		if err := f(key); err != nil {
			return err
		}
	}
	_, err = d.Token()
	return err
}

func readMetadata(d *json.Decoder) (map[string]string, error) {
	metadata := map[string]string{}
	err := object(d, func(key string) error {
		t, err := d.Token()
		if err != nil {
			return err
		}
		value, ok := t.(string)
		if _, twice := metadata[key]; twice || !ok {
			return fmt.Errorf("metadata %q is no text, or there twice", key)
		}
		metadata[key] = value
		return nil
	})
	return metadata, err
}

// readInfo reads one tensor's object. Keys that later versions may add are passed over.
func readInfo(d *json.Decoder) (Info, error) {
	var info Info
	seen := map[string]bool{}
	err := object(d, func(key string) error {
		if seen[key] {
			return fmt.Errorf("%q is there twice", key)
		}
		seen[key] = true
		switch key {
		case "dtype":
			t, err := d.Token()
			if err != nil {
				return err
			}
			info.DType, _ = t.(string)
			if info.rank = rank(info.DType); info.rank < 0 {
				return fmt.Errorf("dtype %v is unknown", t)
			}
		case "shape":
			shape, err := integers(d)
			for _, n := range shape {
				info.Shape = append(info.Shape, int(n))
			}
			return err
		case "data_offsets":
			offsets, err := integers(d)
			if err != nil {
				return err
			}
			if len(offsets) != 2 {
				return fmt.Errorf("%d offsets", len(offsets))
			}
			info.Begin, info.End = offsets[0], offsets[1]
		default:
			var skip json.RawMessage
			return d.Decode(&skip)
		}
		return nil
	})
	for _, key := range []string{"dtype", "shape", "data_offsets"} {
		if err == nil && !seen[key] {
			err = fmt.Errorf("%s is missing", key)
		}
	}
	return info, err
}

// integers reads an array of whole numbers from 0 to 2⁶²; a fraction or an exponent is refused, as by the Python library.
func integers(d *json.Decoder) ([]int64, error) {
	var raw []json.RawMessage
	if err := d.Decode(&raw); err != nil {
		return nil, err
	}
	if raw == nil {
		return nil, fmt.Errorf("null where numbers should be")
	}
	out := make([]int64, len(raw))
	for i, text := range raw {
		n, err := strconv.ParseUint(string(text), 10, 62)
		if err != nil {
			return nil, fmt.Errorf("%.40s is no size", text)
		}
		out[i] = int64(n)
	}
	return out, nil
}

// checkLayout sorts by offset, makes offsets absolute, and demands that the tensors fill the file from start to size without a gap or an
// overlap, each with the bytes that its shape takes.
func checkLayout(infos []Info, start, size int64) error {
	slices.SortStableFunc(infos, func(a, b Info) int {
		if a.Begin != b.Begin {
			return compare(a.Begin, b.Begin)
		}
		return compare(a.End, b.End)
	})
	next := int64(0)
	for i := range infos {
		t := &infos[i]
		if t.Begin != next || t.End < t.Begin {
			return broken("tensor %q lies from %d to %d, where %d should be the first byte: there is a gap or an overlap", t.Name, t.Begin, t.End, next)
		}
		need, ok := t.bytes()
		if !ok {
			return broken("tensor %q: shape %v has too many elements, or a part of a byte", t.Name, t.Shape)
		}
		if uint64(t.End-t.Begin) != need {
			return broken("tensor %q: %s of shape %v takes %d bytes, and has %d", t.Name, t.DType, t.Shape, need, t.End-t.Begin)
		}
		next = t.End
		if next > size-start {
			return broken("tensor %q ends %d bytes after the file", t.Name, next-(size-start))
		}
		t.Begin, t.End = t.Begin+start, t.End+start
	}
	if next != size-start {
		return broken("%d bytes follow the last tensor", size-start-next)
	}
	return nil
}

func compare(a, b int64) int {
	if a < b {
		return -1
	}
	if a > b {
		return 1
	}
	return 0
}

// bytes returns the bytes that the elements take, and whether they are a number amp can count to.
func (t *Info) bytes() (uint64, bool) {
	n := uint64(1)
	for _, d := range t.Shape {
		hi, lo := bits.Mul64(n, uint64(d))
		if hi != 0 || lo > maxElements {
			return 0, false
		}
		n = lo
	}
	n *= dtypes[t.rank].bits // below 2⁵⁴
	return n / 8, n%8 == 0
}
