package dataset

import (
	"bytes"
	"errors"
	"runtime"
	"strings"
	"testing"
)

// allocated returns the bytes that f takes from the heap.
func allocated(f func()) uint64 {
	var a, b runtime.MemStats
	runtime.ReadMemStats(&a)
	f()
	runtime.ReadMemStats(&b)
	return b.TotalAlloc - a.TotalAlloc
}

// FuzzCIFAR gives the reader of records and names any names, lengths and labels: it must return a consistent set or a *FileError, in
// memory bounded by the input. Pixels can't matter; the fuzzer spends its time on the rest.
func FuzzCIFAR(f *testing.F) {
	f.Add([]byte("a\nb\n"), uint16(2*3073), uint16(3073), []byte{1, 0})
	f.Add([]byte("a"), uint16(3073), uint16(3073), []byte{0})
	f.Add([]byte("a\nb\n"), uint16(3072), uint16(3073), []byte{1})
	f.Add([]byte{}, uint16(0), uint16(0), []byte{})
	f.Add([]byte("\xff"), uint16(3074), uint16(2), []byte{0x1f, 0x8b})
	f.Add([]byte("1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n"), uint16(3*3073), uint16(2*3073), []byte{9, 3, 10})
	f.Fuzz(func(t *testing.T, meta []byte, nFirst, nOthers uint16, labels []byte) {
		first, others := make([]byte, nFirst), make([]byte, nOthers)
		for i, l := range labels {
			for _, data := range [][]byte{first, others} {
				if at := i * cifarRecord; at < len(data) {
					data[at] = l
				}
			}
		}
		load := func(name string) ([]byte, string, error) {
			switch name {
			case cifarMeta:
				return meta, name, nil
			case cifarTrain[0]:
				return first, name, nil
			}
			return others, name, nil
		}
		r := newReading("CIFAR10", cifar10Known, nil)
		var train, test *Images
		var err error
		used := allocated(func() { train, test, err = r.cifar(load) })
		if limit := uint64(1<<20 + 8*len(meta) + 8*len(first) + 8*len(others)); used > limit {
			t.Fatalf("%d bytes allocated for %d bytes of input", used, len(meta)+len(first)+len(others))
		}
		var fe *FileError
		if err != nil {
			if !errors.As(err, &fe) {
				t.Fatalf("%v is no *FileError", err)
			}
			return
		}
		for _, m := range []*Images{train, test} {
			if len(m.Data) != m.Len()*cifarPixels || m.Len() == 0 {
				t.Fatalf("%d labels, %d bytes of pixels", m.Len(), len(m.Data))
			}
			m.Counts() // panics for a label without class
		}
	})
}

// FuzzCIFARArchive gives the reader of archives anything.
func FuzzCIFARArchive(f *testing.F) {
	dir := f.TempDir()
	small := pixels(5, 1)
	clear(small.Data) // so that it packs well
	if err := WriteCIFAR10(dir, small, small); err != nil {
		f.Fatal(err)
	}
	whole := pack(f, dir, "")
	f.Add(whole)
	f.Add(whole[:len(whole)/2])
	f.Add([]byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff})
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		var members map[string][]byte
		var err error
		// Deflate makes up to 1032 bytes of one, growing doubles that twice.
		if used := allocated(func() { members, err = readArchive("a", bytes.NewReader(data)) }); used > 1<<21+5000*uint64(len(data)) {
			t.Fatalf("%d bytes allocated for %d", used, len(data))
		}
		var fe *FileError
		if err != nil && !errors.As(err, &fe) {
			t.Fatalf("%v is no *FileError", err)
		}
		for name := range members {
			if name != cifarMeta && !strings.HasSuffix(name, ".bin") {
				t.Fatalf("took %q", name)
			}
		}
	})
}

// FuzzIDX gives the reader anything: it must return an array that WriteTo writes back, or a *FileError, in memory bounded by the
// input.
func FuzzIDX(f *testing.F) {
	f.Add(smallIDX)
	f.Add(gz(smallIDX))
	f.Add(smallIDX[:17])
	f.Add([]byte{0, 0, 8, 3, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 2, 0, 0, 0, 2})
	f.Add([]byte{0, 0, 0x0e, 1, 0x7f, 0xff, 0xff, 0xff, 1, 2})
	f.Add(gz([]byte{0, 0, 8, 1, 0x40, 0, 0, 0}))
	f.Add([]byte{0x1f, 0x8b})
	f.Fuzz(func(t *testing.T, data []byte) {
		var x *IDX
		var err error
		used := allocated(func() { x, err = ReadIDX(bytes.NewReader(data)) })
		limit := uint64(1<<19 + 8*len(data))
		if bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
			limit += 5000 * uint64(len(data))
		}
		if used > limit {
			t.Fatalf("%d bytes allocated for %d", used, len(data))
		}
		if err != nil {
			var fe *FileError
			if !errors.As(err, &fe) {
				t.Fatalf("%v is no *FileError", err)
			}
			return
		}
		var b bytes.Buffer
		if _, err := x.WriteTo(&b); err != nil {
			t.Fatal(err)
		}
		if !bytes.HasPrefix(data, []byte{0x1f, 0x8b}) && !bytes.Equal(b.Bytes(), data) {
			t.Fatal("read and written, it is another file")
		}
	})
}
