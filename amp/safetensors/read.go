package safetensors

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/internal/absent"
	"github.com/halftone-ml/halftone/internal/optional"
)

// A Reader gives the tensors of a file one by one, without holding more than the one that is read. It is safe across goroutines if its
// io.ReaderAt is.
type Reader struct {
	r        io.ReaderAt
	infos    []Info
	byName   map[string]int
	metadata map[string]string
}

// NewReader reads the header of a file of size bytes and checks it.
func NewReader(r io.ReaderAt, size int64) (*Reader, error) {
	if absent.Is(r) {
		return nil, errors.New("safetensors: the reader is nil; pass an open file, or bytes.NewReader")
	}
	infos, metadata, err := readHeader(r, size)
	if err != nil {
		return nil, err
	}
	x := &Reader{r: r, infos: infos, byName: map[string]int{}, metadata: metadata}
	for i, t := range infos {
		x.byName[t.Name] = i
	}
	return x, nil
}

// Tensors says what the file holds, in the order of its data.
func (r *Reader) Tensors() []Info {
	out := slices.Clone(r.infos)
	for i := range out {
		out[i].Shape = slices.Clone(out[i].Shape)
	}
	return out
}

// Metadata returns the entries of __metadata__, nil if there is none.
func (r *Reader) Metadata() map[string]string { return maps.Clone(r.metadata) }

// An Option configures reading.
type Option func(*options)

type options struct{ widen bool }

// Widen converts what amp has no dtype for where nothing is lost: I8, U8, I16, U16, I32 and U32 to int64, F8_E5M2 and F8_E4M3 to
// float16, F8_E8M0 to float32. Without it they are refused.
func Widen() Option { return func(o *options) { o.widen = true } }

// Tensor reads one tensor into new memory, named as in the file. A dtype that amp does not have is an error that wraps ErrDType.
func (r *Reader) Tensor(name string, opts ...Option) (t *amp.Tensor, err error) {
	info, err := r.info(name)
	if err != nil {
		return nil, err
	}
	var o options
	optional.Apply("safetensors.Reader.Tensor", opts, &o, func(op, fix, format string, args ...any) {
		panic(&amp.Error{Op: op, Kind: amp.ErrArgument, Detail: fmt.Sprintf(format, args...), Fix: fix})
	})
	d := dtypes[info.rank]
	// The memory is bounded by the file's size; where amp can't have that much, its panic becomes an error.
	misuse := amp.Maybe(func() {
		switch {
		case d.same != 0:
			t, err = amp.FromRaw(r.section(info), d.same, info.Shape)
		case d.wider != 0 && o.widen:
			t, err = widened(r.section(info), info, d.wider)
		case d.wider != 0:
			err = fmt.Errorf("%w %s; safetensors.Widen() reads it as %v", ErrDType, info.DType, d.wider)
		default:
			err = fmt.Errorf("%w %s; amp has float16, bfloat16, float32, float64, int64 and bool", ErrDType, info.DType)
		}
	})
	if err == nil {
		err = misuse
	}
	if err != nil {
		return nil, fmt.Errorf("safetensors: tensor %q: %w", name, inFile(err))
	}
	return t.SetName(name), nil
}

// ReadInto reads one tensor into the memory of t, which must lie without gaps and have the same shape and dtype.
func (r *Reader) ReadInto(name string, t *amp.Tensor) error {
	info, err := r.info(name)
	if err != nil {
		return err
	}
	if dtypes[info.rank].same != t.DType() || !slices.Equal(info.Shape, t.Shape()) {
		return fmt.Errorf("safetensors: tensor %q is %s of shape %v in the file, and is to be read into %v of shape %v", name, info.DType, info.Shape, t.DType(), t.Shape())
	}
	if err := amp.ReadRaw(r.section(info), t); err != nil {
		return fmt.Errorf("safetensors: tensor %q: %w", name, inFile(err))
	}
	return nil
}

// inFile adds ErrFormat to an error about the elements that a file has.
func inFile(err error) error {
	if bad := (*amp.BoolError)(nil); errors.As(err, &bad) {
		return fmt.Errorf("%w (%w)", err, ErrFormat)
	}
	return err
}

func (r *Reader) section(t *Info) io.Reader { return io.NewSectionReader(r.r, t.Begin, t.End-t.Begin) }

func (r *Reader) info(name string) (*Info, error) {
	i, ok := r.byName[name]
	if !ok {
		return nil, fmt.Errorf("safetensors: there is no tensor %q in the file, which has %d", name, len(r.infos))
	}
	return &r.infos[i], nil
}

// All reads every tensor.
func (r *Reader) All(opts ...Option) (map[string]*amp.Tensor, error) {
	out := make(map[string]*amp.Tensor, len(r.infos))
	for _, t := range r.infos {
		x, err := r.Tensor(t.Name, opts...)
		if err != nil {
			for _, done := range out {
				done.Free()
			}
			return nil, err
		}
		out[t.Name] = x
	}
	return out, nil
}

// Load reads a whole file: the tensors, named as in the file, and the metadata, nil if there is none.
func Load(path string, opts ...Option) (map[string]*amp.Tensor, map[string]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, fmt.Errorf("safetensors: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, nil, fmt.Errorf("safetensors: %w", err)
	}
	r, err := NewReader(f, info.Size())
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	tensors, err := r.All(opts...)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	return tensors, r.Metadata(), nil
}
