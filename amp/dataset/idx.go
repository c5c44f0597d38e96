package dataset

import (
	"bufio"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"io"
)

// An IDX is an array in the format of the MNIST files: two zero bytes, a type byte, a dimension byte, big-endian 32-bit sizes,
// the elements in row-major order.
type IDX struct {
	Type IDXType
	Dims []int
	Data []byte // Elements()·Type.Size() bytes; wider types are big-endian
}

// IDXType is the type byte of an IDX file.
type IDXType byte

// The types an IDX file can have.
const (
	IDXUint8   IDXType = 0x08
	IDXInt8    IDXType = 0x09
	IDXInt16   IDXType = 0x0B
	IDXInt32   IDXType = 0x0C
	IDXFloat32 IDXType = 0x0D
	IDXFloat64 IDXType = 0x0E
)

// Size returns the bytes of an element, 0 for an unknown type.
func (t IDXType) Size() int {
	switch t {
	case IDXUint8, IDXInt8:
		return 1
	case IDXInt16:
		return 2
	case IDXInt32, IDXFloat32:
		return 4
	case IDXFloat64:
		return 8
	}
	return 0
}

// maxIDXDims bounds the dimensions; MNIST has three.
const maxIDXDims = 8

// ReadIDX reads one array, gzip-compressed or plain. What is wrong with it is a *FileError that names it "IDX".
func ReadIDX(r io.Reader) (*IDX, error) {
	return readIDX("IDX", "take a whole file in the IDX format", r, maxFile)
}

// readIDX reads an array of a file called name; the input has at most size bytes.
func readIDX(name, get string, r io.Reader, size int64) (*IDX, error) {
	in := bufio.NewReaderSize(r, 1<<16)
	magic, _ := in.Peek(2)
	if len(magic) < 2 || magic[0] != 0x1f || magic[1] != 0x8b {
		return parseIDX(name, get, in, size)
	}
	z, err := gzip.NewReader(in)
	if err != nil {
		return nil, idxError(name, get, "a gzip header", err)
	}
	// Deflate makes at most 1032 bytes of one, so that a small file can't hold what a large header promises.
	return parseIDX(name, get, z, min(maxFile, size*1032))
}

// idxError words an error of the input: what the content is to blame for becomes one of this package's kinds, the rest stays.
func idxError(name, get, want string, err error) error {
	e := &FileError{File: name, Kind: blame(err), Want: want, Fix: get}
	switch {
	case e.Kind == ErrTruncated:
		e.Found = "the end of the file"
	case isContent(e.Kind):
		e.Found = err.Error()
	}
	return e
}

// parseIDX reads header and elements of at most size bytes.
func parseIDX(name, get string, r io.Reader, size int64) (*IDX, error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, idxError(name, get, "a header of 4 bytes", err)
	}
	x := &IDX{Type: IDXType(head[2])}
	nd := int(head[3])
	if head[0] != 0 || head[1] != 0 || x.Type.Size() == 0 || nd == 0 || nd > maxIDXDims {
		return nil, &FileError{
			File: name, Kind: ErrFormat, Want: fmt.Sprintf("an IDX header (00 00, a type, 1 to %d dimensions)", maxIDXDims),
			Found: fmt.Sprintf("% x", head), Fix: get,
		}
	}
	sizes := make([]byte, 4*nd)
	if _, err := io.ReadFull(r, sizes); err != nil {
		return nil, idxError(name, get, fmt.Sprintf("%d sizes", nd), err)
	}
	n, big := int64(x.Type.Size()), false
	for d := range nd {
		dim := int64(binary.BigEndian.Uint32(sizes[4*d:]))
		x.Dims = append(x.Dims, int(dim))
		if n *= dim; n > maxFile {
			n, big = maxFile, true
		}
	}
	room := size - int64(len(head)+len(sizes))
	if big || n > room {
		return nil, &FileError{
			File: name, Kind: ErrTruncated, Want: fmt.Sprintf("the elements of %v, as its header says", x.Dims),
			Found: fmt.Sprintf("room for %d bytes at most", max(0, room)), Fix: get,
		}
	}
	data, err := readExactly(r, n)
	if err != nil {
		e := idxError(name, get, fmt.Sprintf("%s for %v", count(n), x.Dims), err)
		if fe, ok := e.(*FileError); ok && fe.Kind == ErrTruncated {
			fe.Found = count(int64(len(data)))
		}
		return nil, e
	}
	x.Data = data
	switch k, err := io.ReadFull(r, head[:1]); {
	case k > 0:
		return nil, &FileError{File: name, Kind: ErrFormat, Want: fmt.Sprintf("%s for %v", count(n), x.Dims), Found: "more than that", Fix: get}
	case err != io.EOF:
		return nil, idxError(name, get, "the end of the file", err)
	}
	return x, nil
}

// WriteTo writes the array in the IDX format, uncompressed.
func (x *IDX) WriteTo(w io.Writer) (int64, error) {
	n := int64(x.Type.Size())
	head := []byte{0, 0, byte(x.Type), byte(len(x.Dims))}
	for _, d := range x.Dims {
		if d < 0 || d > 1<<32-1 {
			return 0, fmt.Errorf("dataset: an IDX array of %v; fix: use sizes from 0 to 4294967295", x.Dims)
		}
		head = binary.BigEndian.AppendUint32(head, uint32(d))
		n *= int64(d)
	}
	if len(x.Dims) == 0 || len(x.Dims) > maxIDXDims || n != int64(len(x.Data)) || x.Type.Size() == 0 {
		return 0, fmt.Errorf("dataset: an IDX array of %v, type %#02x, with %s; fix: give 1 to %d sizes and the bytes they need", x.Dims, byte(x.Type), count(int64(len(x.Data))), maxIDXDims)
	}
	a, err := w.Write(head)
	if err != nil {
		return int64(a), err
	}
	b, err := w.Write(x.Data)
	return int64(a) + int64(b), err
}
