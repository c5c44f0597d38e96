package dataset

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"
)

// The CIFAR-10 binary format: a record is a label byte and the red, green and blue plane of a 32×32 image.
const (
	cifarPixels = 3 * 32 * 32
	cifarRecord = 1 + cifarPixels
	cifarMeta   = "batches.meta.txt"
	cifarGet    = "get the CIFAR-10 binary version (cifar-10-binary.tar.gz) and put it, or the folder cifar-10-batches-bin in it, here"
)

var (
	cifarTrain = []string{"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin", "data_batch_5.bin"}
	cifarTest  = []string{"test_batch.bin"}
)

// CIFAR10 reads the CIFAR-10 binary version: data_batch_1.bin to data_batch_5.bin, test_batch.bin and batches.meta.txt, from dir,
// from dir/cifar-10-batches-bin or from dir/cifar-10-binary.tar.gz, whichever is there first; dir may be the archive itself. Sets of one's own in that format,
// such as WriteCIFAR10 makes, may have any number of records per file. Files with the official class names and sizes must have
// the official checksums. What is wrong with a file is a *FileError.
func CIFAR10(dir string, opts ...ReadOption) (train, test *Images, err error) {
	r := newReading("CIFAR10", cifar10Known, opts)
	load, err := r.findCIFAR(dir)
	if err != nil {
		return nil, nil, err
	}
	train, test, err = r.cifar(load)
	if err == nil {
		err = r.unused(dir)
	}
	if err != nil {
		return nil, nil, err
	}
	train.Files, test.Files = r.files, r.files
	return train, test, nil
}

// A loadFunc returns the content of one file of the set, and what to call it in messages.
type loadFunc func(name string) (data []byte, path string, err error)

// findCIFAR looks for the files where they may be.
func (r *reading) findCIFAR(dir string) (loadFunc, error) {
	if info, err := os.Stat(dir); err == nil && info.Mode().IsRegular() {
		return r.openArchive(dir)
	}
	for _, d := range []string{dir, filepath.Join(dir, "cifar-10-batches-bin")} {
		if _, err := os.Stat(filepath.Join(d, cifarTrain[0])); err == nil {
			return func(name string) ([]byte, string, error) {
				path := filepath.Join(d, name)
				data, err := readFile(path)
				return data, path, err
			}, nil
		}
	}
	archive := filepath.Join(dir, cifar10Known[0].name)
	if _, err := os.Stat(archive); err == nil {
		return r.openArchive(archive)
	}
	get := cifarGet
	if _, err := os.Stat(filepath.Join(dir, "data_batch_1")); err == nil {
		get = "this is the Python version; " + cifarGet
	}
	return nil, &FileError{File: filepath.Join(dir, cifarTrain[0]), Kind: fs.ErrNotExist, Fix: get}
}

// readFile reads a whole regular file.
func readFile(path string) ([]byte, error) {
	f, bytes, err := open(path, cifarGet)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data := make([]byte, bytes)
	if n, err := io.ReadFull(f, data); err != nil {
		return nil, &FileError{File: path, Kind: ErrTruncated, Want: count(bytes), Found: count(int64(n)), Fix: "read it when nothing else writes it"}
	}
	return data, nil
}

// cifar reads the set through load.
func (r *reading) cifar(load loadFunc) (train, test *Images, err error) {
	text, path, err := load(cifarMeta)
	if err != nil {
		return nil, nil, err
	}
	classes, err := parseClasses(path, text)
	if err != nil {
		return nil, nil, err
	}
	if !slices.Equal(classes, cifar10Classes) {
		r.official = nil // a set of one's own
	}
	if err := r.verify(path, text); err != nil {
		return nil, nil, err
	}
	if train, err = r.batches(load, cifarTrain, classes); err != nil {
		return nil, nil, err
	}
	if test, err = r.batches(load, cifarTest, classes); err != nil {
		return nil, nil, err
	}
	return train, test, nil
}

// verify compares the checksum of a file in memory, if one is known.
func (r *reading) verify(path string, data []byte) error {
	d := r.digest(filepath.Base(path), int64(len(data)))
	if d != nil {
		d.Write(data)
	}
	return r.finish(path, int64(len(data)), d)
}

// parseClasses reads the class names, one a line.
func parseClasses(path string, text []byte) ([]string, error) {
	bad := func(found string) error {
		return &FileError{File: path, Kind: ErrFormat, Want: "1 to 256 class names, one a line", Found: found, Fix: "take the file that came with the batches"}
	}
	if len(text) > 1<<16 || !utf8.Valid(text) {
		return nil, bad(count(int64(len(text))) + " that are no such text")
	}
	var names []string
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" {
			names = append(names, line)
		}
	}
	if len(names) == 0 || len(names) > 256 {
		return nil, bad(fmt.Sprintf("%d lines", len(names)))
	}
	return names, nil
}

// batches reads files of records one after the other.
func (r *reading) batches(load loadFunc, names, classes []string) (*Images, error) {
	parts := make([][]byte, len(names))
	first, last := 0, 0 // records in the first and in the latest file
	for i, name := range names {
		data, path, err := load(name)
		if err == nil {
			err = checkRecords(path, data, len(classes))
		}
		if err == nil {
			err = r.verify(path, data)
		}
		if err != nil {
			return nil, err
		}
		n := len(data) / cifarRecord
		if i == 0 {
			first, last = n, n
		}
		// A set is split evenly, with the odd records in the first files: a file that breaks the rule lost its end.
		if n != first && (n != first-1 || n > last) || n > last {
			return nil, &FileError{
				File: path, Kind: ErrTruncated, Want: fmt.Sprintf("%d records, as %s has", first, names[0]),
				Found: fmt.Sprintf("%d", n), Fix: "replace the file, or " + cifarGet,
			}
		}
		parts[i], last = data, n
	}
	return joinRecords(parts, classes), nil
}

// checkRecords checks length and labels of one file.
func checkRecords(path string, data []byte, classes int) error {
	n, rest := len(data)/cifarRecord, len(data)%cifarRecord
	if rest != 0 || n == 0 {
		e := &FileError{
			File: path, Kind: ErrTruncated, Want: fmt.Sprintf("records of %d bytes", cifarRecord),
			Found: fmt.Sprintf("%s, which is %d of them and %s", count(int64(len(data))), n, count(int64(rest))), Fix: cifarGet,
		}
		switch {
		case len(data) > 0 && len(data)%(cifarRecord+1) == 0:
			e.Kind, e.Found = ErrFormat, fmt.Sprintf("records of %d bytes, as CIFAR-100 has", cifarRecord+1)
		case bytes.HasPrefix(data, []byte{0x1f, 0x8b}):
			e.Kind, e.Found, e.Fix = ErrFormat, "gzip data", "unpack it"
		}
		return e
	}
	for i := range n {
		if l := int(data[i*cifarRecord]); l >= classes {
			return &FileError{
				File: path, Kind: ErrFormat, Want: fmt.Sprintf("labels from 0 to %d", classes-1),
				Found: fmt.Sprintf("label %d in record %d", l, i), Fix: cifarGet,
			}
		}
	}
	return nil
}

// joinRecords takes labels and pixels apart.
func joinRecords(parts [][]byte, classes []string) *Images {
	n := 0
	for _, p := range parts {
		n += len(p) / cifarRecord
	}
	m := &Images{Data: make([]byte, 0, n*cifarPixels), Labels: make([]uint8, 0, n), Shape: [3]int{3, 32, 32}, Classes: classes}
	for _, p := range parts {
		for ; len(p) > 0; p = p[cifarRecord:] {
			m.Labels = append(m.Labels, p[0])
			m.Data = append(m.Data, p[1:cifarRecord]...)
		}
	}
	return m
}
