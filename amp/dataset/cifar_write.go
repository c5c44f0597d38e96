package dataset

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// WriteCIFAR10 writes a set in the CIFAR-10 binary format, so that other programs read it too: train evenly over five files,
// test, and the class names. Images must be [3 32 32] and both sets have the same classes; train needs at least five images. The files
// take the places of older ones only when all are written; what is wrong with one is a *FileError.
func WriteCIFAR10(dir string, train, test *Images) error {
	if err := fitsCIFAR(train, test); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return &FileError{File: dir, Kind: err, Fix: "name a folder that can be made and written to"}
	}
	tmp, err := os.MkdirTemp(dir, "cifar.*.new")
	if err != nil {
		return &FileError{File: dir, Kind: err, Fix: "name a folder that can be written to"}
	}
	w := newFiles{dir: dir, tmp: tmp}
	defer w.drop()
	w.add(cifarMeta, []byte(strings.Join(train.Classes, "\n")+"\n"))
	at := 0
	for i, name := range cifarTrain {
		n := train.Len() / len(cifarTrain)
		if i < train.Len()%len(cifarTrain) {
			n++
		}
		w.add(name, records(train.Slice(at, at+n)))
		at += n
	}
	w.add(cifarTest[0], records(test))
	return w.place()
}

// fitsCIFAR refuses what the format can't hold, before anything is written.
func fitsCIFAR(train, test *Images) error {
	want := [3]int{3, 32, 32}
	if train == nil || test == nil {
		return errors.New("dataset: a set to write is nil; fix: pass training and test images")
	}
	if train.Shape != want || test.Shape != want {
		return fmt.Errorf("dataset: CIFAR-10 images are [3 32 32], these are %v and %v; fix: make them 32×32 in color", train.Shape, test.Shape)
	}
	if !slices.Equal(train.Classes, test.Classes) || len(train.Classes) == 0 {
		return errors.New("dataset: the training and test images need the same class names; fix: set Classes of both")
	}
	if train.Len() < len(cifarTrain) || test.Len() == 0 {
		return fmt.Errorf("dataset: %d training and %d test images don't fill five and one file; fix: use at least 5 and 1", train.Len(), test.Len())
	}
	text := []byte(strings.Join(train.Classes, "\n") + "\n")
	if names, err := parseClasses(cifarMeta, text); err != nil || !slices.Equal(names, train.Classes) {
		return fmt.Errorf("dataset: class names %q can't be written one a line; fix: use 1 to 256 names without line breaks or outer spaces", train.Classes)
	}
	for _, m := range []*Images{train, test} {
		for i, l := range m.Labels {
			if int(l) >= len(m.Classes) {
				return fmt.Errorf("dataset: image %d has label %d of %d classes; fix: correct Labels or Classes", i, l, len(m.Classes))
			}
		}
	}
	return nil
}

// records are the images as the format has them.
func records(m *Images) []byte {
	data := make([]byte, 0, m.Len()*cifarRecord)
	for i, l := range m.Labels {
		data = append(append(data, l), m.Pixels(i)...)
	}
	return data
}

// newFiles are files written into a folder of their own, beside the places that they are to take together.
type newFiles struct {
	dir, tmp string
	names    []string
	err      error // the first
}

// temporary is where a file lies until all are written.
func (w *newFiles) temporary(name string) string { return filepath.Join(w.tmp, name) }

func (w *newFiles) add(name string, data []byte) {
	if w.err != nil {
		return
	}
	w.names = append(w.names, name)
	if err := os.WriteFile(w.temporary(name), data, 0o644); err != nil {
		w.err = w.refused(name, err)
	}
}

// place gives the files their names.
func (w *newFiles) place() error {
	for _, name := range w.names {
		if w.err == nil {
			if err := os.Rename(w.temporary(name), filepath.Join(w.dir, name)); err != nil {
				w.err = w.refused(name, err)
			}
		}
	}
	return w.err
}

// drop removes what was not placed.
func (w *newFiles) drop() { _ = os.RemoveAll(w.tmp) }

func (w *newFiles) refused(name string, err error) error {
	return &FileError{File: filepath.Join(w.dir, name), Kind: err, Fix: "make room for the set, or write it to a folder that can be written to"}
}
