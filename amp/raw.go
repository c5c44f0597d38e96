package amp

import (
	endian "encoding/binary" // binary is a function of this package
	"fmt"
	"io"
	"slices"
)

// Elements as bytes, for files: row-major, little-endian, every bit kept, NaN payloads too.

// littleEndian says whether this machine's numbers lie in memory as in files.
var littleEndian = endian.NativeEndian.Uint16([]byte{1, 0}) == 1

// rawChunk is the number of elements that are copied at a time where they do not lie as in a file.
const rawChunk = 4096

// WriteRaw writes the elements of t to w: Len times DType.Size bytes.
func WriteRaw(w io.Writer, t *Tensor) error {
	t.live("WriteRaw")
	t = t.onHost("WriteRaw")
	size := t.dt.Size()
	if littleEndian && t.contiguous() {
		_, err := w.Write(t.st.mem[t.off*size:][:t.Len()*size])
		return err
	}
	buf := make([]byte, 0, rawChunk*size)
	var err error
	flush := func() {
		if err == nil {
			_, err = w.Write(buf)
		}
		buf = buf[:0]
	}
	t.each(func(off int) {
		buf = append(buf, t.st.mem[off*size:][:size]...)
		if !littleEndian {
			slices.Reverse(buf[len(buf)-size:])
		}
		if len(buf) == cap(buf) {
			flush()
		}
	})
	flush()
	return err
}

// ReadRaw replaces the elements of t, which must lie without gaps, by what WriteRaw wrote. What SetValues says of graphs and cached
// casts holds here. A reader that ends early, or a bool that is neither 0 nor 1, is an error; the elements are then undefined,
// but for bools, which are false from there on.
func ReadRaw(r io.Reader, t *Tensor) error {
	t.live("ReadRaw")
	if !t.contiguous() {
		fail("ReadRaw", ErrArgument, "read with amp.FromRaw and amp.Assign that to it", "tensor %sof shape %v has gaps or another order than row-major: strides %v",
			quoted(t.name), t.shape, t.strides)
	}
	t.st.changing()
	var err error
	t.rewrite("ReadRaw", func(t *Tensor) { err = readInto(r, t) })
	return err
}

// readInto fills a tensor on the host.
func readInto(r io.Reader, t *Tensor) error {
	size := t.dt.Size()
	mem := t.st.mem[t.off*size:][:t.Len()*size]
	if t.dt == Bool {
		return readBools(r, mem)
	}
	if _, err := io.ReadFull(r, mem); err != nil {
		return shortRaw(err)
	}
	if !littleEndian {
		for ; len(mem) > 0; mem = mem[size:] {
			slices.Reverse(mem[:size])
		}
	}
	return nil
}

// A BoolError is a byte that ReadRaw found in the place of a bool and that is neither 0 nor 1.
type BoolError struct {
	Element int
	Value   byte
}

// Error names the element and the byte.
func (e *BoolError) Error() string {
	return fmt.Sprintf("element %d of a bool tensor is %d, neither 0 nor 1", e.Element, e.Value)
}

// readBools lets no other byte than 0 and 1 become a Go bool.
func readBools(r io.Reader, mem []byte) error {
	clear(mem)
	var buf [rawChunk]byte
	for done := 0; done < len(mem); {
		n := min(len(buf), len(mem)-done)
		if _, err := io.ReadFull(r, buf[:n]); err != nil {
			return shortRaw(err)
		}
		for i, b := range buf[:n] {
			if b > 1 {
				return &BoolError{done + i, b}
			}
			mem[done+i] = b
		}
		done += n
	}
	return nil
}

func shortRaw(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// FromRaw returns a tensor on the default device of a shape, which may be empty for a single element, with what WriteRaw wrote. It panics as From
// does for a bad shape, and returns the reader's error.
func FromRaw(r io.Reader, dt DType, shape []int) (*Tensor, error) {
	t := alloc("FromRaw", defaultDevice(), dt, shape)
	if err := ReadRaw(r, t); err != nil {
		t.Free()
		return nil, err
	}
	return t, nil
}
