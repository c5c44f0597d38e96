package dataset

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// MNIST reads the four IDX files of MNIST (train-images-idx3-ubyte, train-labels-idx1-ubyte and the two of t10k), each plain or
// with .gz, from dir or from raw or MNIST/raw in it. Files of the official sizes must have the official checksums. What is wrong
// with a file is a *FileError.
func MNIST(dir string, opts ...ReadOption) (train, test *Images, err error) {
	return idxSet(dir, "MNIST", mnistClasses, newReading("MNIST", mnistKnown, opts))
}

// FashionMNIST reads the four IDX files of Fashion-MNIST, which have the names of MNIST's; see MNIST.
func FashionMNIST(dir string, opts ...ReadOption) (train, test *Images, err error) {
	return idxSet(dir, "FashionMNIST", fashionClasses, newReading("FashionMNIST", fashionKnown, opts))
}

// IDXImages reads a set of one's own: images [N H W] or [N C H W] and labels [N] of type uint8, one class name per label.
func IDXImages(images, labels string, classes []string, opts ...ReadOption) (*Images, error) {
	r := newReading("IDXImages", nil, opts)
	m, err := r.idxImages(images, labels, classes, "name an IDX file")
	if err == nil {
		err = r.unused(filepath.Dir(images))
	}
	if err != nil {
		return nil, err
	}
	m.Files = r.files
	return m, nil
}

// idxSet reads training and test images.
func idxSet(dir, set string, classes []string, r *reading) (train, test *Images, err error) {
	get := fmt.Sprintf("get the four files of %s (train-images-idx3-ubyte.gz and so on) and put them here", set)
	read := func(part string) (*Images, error) {
		return r.idxImages(findIDX(dir, set, part+"-images", "idx3"), findIDX(dir, set, part+"-labels", "idx1"), classes, get)
	}
	if train, err = read("train"); err != nil {
		return nil, nil, err
	}
	if test, err = read("t10k"); err != nil {
		return nil, nil, err
	}
	if train.Shape != test.Shape {
		return nil, nil, &FileError{
			File: findIDX(dir, set, "t10k-images", "idx3"), Kind: ErrFormat, Want: fmt.Sprintf("images %v, as for training", train.Shape),
			Found: fmt.Sprintf("%v", test.Shape), Fix: get,
		}
	}
	if err := r.unused(dir); err != nil {
		return nil, nil, err
	}
	train.Files, test.Files = r.files, r.files
	return train, test, nil
}

// findIDX returns the path of a file under the names and in the folders that are in use, or where it should be.
func findIDX(dir, set, part, rank string) string {
	for _, d := range []string{dir, filepath.Join(dir, "raw"), filepath.Join(dir, set, "raw")} {
		for _, name := range []string{part + "-" + rank + "-ubyte", part + "." + rank + "-ubyte"} {
			for _, end := range []string{"", ".gz"} {
				path := filepath.Join(d, name+end)
				if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
					return path
				}
			}
		}
	}
	return filepath.Join(dir, part+"-"+rank+"-ubyte.gz")
}

// idxFile reads and verifies one file of bytes.
func (r *reading) idxFile(path, get string, ranks ...int) (*IDX, error) {
	f, bytes, err := open(path, get)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	// The checksum is on record under the name with a dash: train-images-idx3-ubyte.
	d := r.digest(strings.Replace(filepath.Base(path), ".idx", "-idx", 1), bytes)
	if given := r.digest(filepath.Base(path), bytes); given != nil {
		d = given
	}
	var in io.Reader = f
	if d != nil {
		in = io.TeeReader(f, d)
	}
	x, err := readIDX(path, get, in, bytes)
	if d != nil && (err == nil || isContent(err)) {
		// The rest counts for the checksum, which says more than where the damage was noticed.
		if _, copyErr := io.Copy(io.Discard, in); copyErr != nil {
			return nil, &FileError{File: path, Kind: copyErr, Fix: "make it readable"}
		}
		if sumErr := r.finish(path, bytes, d); sumErr != nil {
			return nil, sumErr
		}
	} else if err == nil {
		err = r.finish(path, bytes, nil)
	}
	if err != nil {
		return nil, err
	}
	for _, rank := range ranks {
		if len(x.Dims) == rank && x.Type == IDXUint8 {
			return x, nil
		}
	}
	return nil, &FileError{
		File: path, Kind: ErrFormat, Want: fmt.Sprintf("uint8 (type 0x08) of %v dimensions", ranks),
		Found: fmt.Sprintf("type %#02x of shape %v", byte(x.Type), x.Dims), Fix: get,
	}
}

// idxImages joins a file of images and one of labels.
func (r *reading) idxImages(images, labels string, classes []string, get string) (*Images, error) {
	x, err := r.idxFile(images, get, 3, 4)
	if err != nil {
		return nil, err
	}
	y, err := r.idxFile(labels, get, 1)
	if err != nil {
		return nil, err
	}
	n := x.Dims[0]
	m := &Images{Data: x.Data, Labels: y.Data, Shape: [3]int{1, x.Dims[len(x.Dims)-2], x.Dims[len(x.Dims)-1]}, Classes: classes}
	if len(x.Dims) == 4 {
		m.Shape[0] = x.Dims[1]
	}
	if n == 0 || len(x.Data) == 0 {
		return nil, &FileError{File: images, Kind: ErrFormat, Want: "at least one image", Found: fmt.Sprintf("shape %v", x.Dims), Fix: get}
	}
	if len(y.Data) != n {
		return nil, &FileError{
			File: labels, Kind: ErrFormat, Want: fmt.Sprintf("%d labels, one per image of %s", n, filepath.Base(images)),
			Found: fmt.Sprintf("%d", len(y.Data)), Fix: get,
		}
	}
	for i, l := range y.Data {
		if int(l) >= len(classes) {
			return nil, &FileError{
				File: labels, Kind: ErrFormat, Want: fmt.Sprintf("labels from 0 to %d", len(classes)-1),
				Found: fmt.Sprintf("label %d at %d", l, i), Fix: get,
			}
		}
	}
	return m, nil
}
