package safetensors

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/internal/wholefile"
)

// Save writes tensors and metadata, which may be nil, to a file. It writes to a temporary file beside it, which takes its place when
// all is on the disk: after a crash there is the old file or the new one, whole. Tensors of any strides are written in row-major
// order; the same name for a tensor and the metadata, or names that are not UTF-8, are errors.
func Save(path string, tensors map[string]*amp.Tensor, metadata map[string]string) error {
	f, err := wholefile.Create(path, 0o666)
	if err != nil {
		return fmt.Errorf("safetensors: %w; name a file in a folder that is there and can be written to", err)
	}
	defer f.Discard() // also where a device fails, which panics
	w := bufio.NewWriterSize(f, 1<<16)
	if err = Write(w, tensors, metadata); err == nil {
		err = w.Flush()
	}
	if err == nil {
		err = f.Commit()
	}
	if err != nil {
		return fmt.Errorf("safetensors: saving %s: %w%s", path, err, makeRoom(err))
	}
	return nil
}

// makeRoom is what to do about an error of the disk; "" for others, which say it themselves.
func makeRoom(err error) string {
	var file *fs.PathError
	var link *os.LinkError
	if errors.As(err, &file) || errors.As(err, &link) {
		return "; make room, or save to another disk: what was there before stays as it was"
	}
	return ""
}

// Write writes what Save does to w.
func Write(w io.Writer, tensors map[string]*amp.Tensor, metadata map[string]string) error {
	names := slices.SortedFunc(maps.Keys(tensors), func(a, b string) int {
		if tensors[a] != nil && tensors[b] != nil {
			if ra, rb := rankOf(tensors[a].DType()), rankOf(tensors[b].DType()); ra != rb {
				return rb - ra
			}
		}
		if a < b {
			return -1
		}
		return 1
	})
	head, err := header(names, tensors, metadata)
	if err != nil {
		return err
	}
	if err := binary.Write(w, binary.LittleEndian, uint64(len(head))); err != nil {
		return err
	}
	if _, err := w.Write(head); err != nil {
		return err
	}
	for _, name := range names {
		if err := amp.WriteRaw(w, tensors[name]); err != nil {
			return err
		}
	}
	return nil
}

// header is the JSON as the Python library writes it, padded.
func header(names []string, tensors map[string]*amp.Tensor, metadata map[string]string) ([]byte, error) {
	b := []byte{'{'}
	if metadata != nil {
		b = appendString(b, metadataKey)
		b = append(b, ":{"...)
		for i, key := range slices.Sorted(maps.Keys(metadata)) {
			if !utf8.ValidString(key) || !utf8.ValidString(metadata[key]) {
				return nil, fmt.Errorf("safetensors: metadata %q: %q is not UTF-8", key, metadata[key])
			}
			b = comma(b, i)
			b = appendString(b, key)
			b = append(b, ':')
			b = appendString(b, metadata[key])
		}
		b = append(b, '}')
	}
	begin := int64(0)
	for i, name := range names {
		t := tensors[name]
		switch {
		case name == metadataKey:
			return nil, fmt.Errorf("safetensors: %q names the metadata, and can name no tensor", name)
		case !utf8.ValidString(name):
			return nil, fmt.Errorf("safetensors: tensor name %q is not UTF-8", name)
		case t == nil:
			return nil, fmt.Errorf("safetensors: tensor %q is nil", name)
		}
		if err := amp.Maybe(func() { t.Device() }); err != nil { // its memory is gone
			return nil, fmt.Errorf("safetensors: tensor %q: %w", name, err)
		}
		if i > 0 || metadata != nil {
			b = append(b, ',')
		}
		b = appendString(b, name)
		b = append(b, `:{"dtype":"`...)
		b = append(b, dtypes[rankOf(t.DType())].name...)
		b = append(b, `","shape":[`...)
		for k, d := range t.Shape() {
			b = strconv.AppendInt(comma(b, k), int64(d), 10)
		}
		b = append(b, `],"data_offsets":[`...)
		b = strconv.AppendInt(b, begin, 10)
		b = append(b, ',')
		begin += t.Bytes()
		b = strconv.AppendInt(b, begin, 10)
		b = append(b, "]}"...)
	}
	b = append(b, '}')
	for len(b)%8 != 0 {
		b = append(b, ' ')
	}
	if len(b) > maxHeader {
		return nil, fmt.Errorf("safetensors: the header takes %d bytes, and %d are allowed; use fewer tensors or less metadata", len(b), maxHeader)
	}
	return b, nil
}

func comma(b []byte, i int) []byte {
	if i > 0 {
		b = append(b, ',')
	}
	return b
}

// appendString escapes as Rust's serde_json does, and encoding/json does not: only what JSON demands.
func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c >= 0x20:
			b = append(b, c)
		default:
			b = append(b, '\\')
			if k := slices.Index([]byte("\b\f\n\r\t"), c); k >= 0 {
				b = append(b, "bfnrt"[k])
			} else {
				b = append(b, fmt.Sprintf("u%04x", c)...)
			}
		}
	}
	return append(b, '"')
}
