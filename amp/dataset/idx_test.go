package dataset

import (
	"bytes"
	"compress/gzip"
	"crypto/md5"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func gz(data []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write(data)
	w.Close()
	return b.Bytes()
}

// The bytes of an array [2 3], written by hand from the format's description.
var smallIDX = []byte{0, 0, 0x08, 2, 0, 0, 0, 2, 0, 0, 0, 3, 1, 2, 3, 4, 5, 6}

func TestReadIDX(t *testing.T) {
	for name, data := range map[string][]byte{"plain": smallIDX, "gzip": gz(smallIDX)} {
		x, err := ReadIDX(bytes.NewReader(data))
		if err != nil || x.Type != IDXUint8 || !slices.Equal(x.Dims, []int{2, 3}) || !bytes.Equal(x.Data, []byte{1, 2, 3, 4, 5, 6}) {
			t.Errorf("%s: %+v, %v", name, x, err)
		}
	}
	for _, x := range []IDX{
		{IDXFloat64, []int{1, 2}, make([]byte, 16)}, {IDXInt16, []int{3}, make([]byte, 6)}, {IDXFloat32, []int{2, 0, 3}, []byte{}},
	} {
		var b bytes.Buffer
		n, err := x.WriteTo(&b)
		if err != nil || n != int64(b.Len()) {
			t.Fatal(n, err)
		}
		if back, err := ReadIDX(&b); err != nil || !reflect.DeepEqual(*back, x) {
			t.Errorf("%+v came back as %+v, %v", x, back, err)
		}
	}
	for _, x := range []IDX{
		{IDXUint8, []int{2}, []byte{1}}, {IDXUint8, nil, []byte{1}}, {7, []int{0}, nil}, {IDXUint8, []int{-1, -1}, []byte{1}},
		{IDXUint8, []int{1, 1, 1, 1, 1, 1, 1, 1, 1}, []byte{1}},
	} {
		if _, err := x.WriteTo(&bytes.Buffer{}); err == nil {
			t.Errorf("%+v was written", x)
		}
	}
}

func TestReadIDXRefuses(t *testing.T) {
	change := func(at int, v byte) []byte {
		b := slices.Clone(smallIDX)
		b[at] = v
		return b
	}
	damaged := gz(smallIDX)
	damaged[len(damaged)-6]++
	huge := []byte{0, 0, 8, 3, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1}
	gig := []byte{0, 0, 8, 1, 0x40, 0, 0, 0, 1}
	for name, c := range map[string]struct {
		data  []byte
		kind  error
		words string
	}{
		"empty":         {nil, ErrTruncated, "4 bytes"},
		"header cut":    {smallIDX[:3], ErrTruncated, ""},
		"sizes cut":     {smallIDX[:9], ErrTruncated, "2 sizes"},
		"elements cut":  {smallIDX[:17], ErrTruncated, "found 5 bytes"},
		"too long":      {append(slices.Clone(smallIDX), 7), ErrFormat, "more than that"},
		"magic":         {change(1, 1), ErrFormat, "00 01 08 02"},
		"type":          {change(2, 0x0A), ErrFormat, "an IDX header"},
		"no dimensions": {change(3, 0), ErrFormat, ""},
		"dimensions":    {change(3, 9), ErrFormat, "1 to 8"},
		"overflow":      {huge, ErrTruncated, "[4294967295 4294967295 4294967295]"},
		"a gigabyte":    {gig, ErrTruncated, "found 1 byte"},
		"packed cut":    {gz(smallIDX)[:25], ErrTruncated, ""},
		"packed huge":   {gz(gig), ErrTruncated, ""},
		"packed sum":    {damaged, ErrChecksum, ""},
		"packed wrong":  {[]byte{0x1f, 0x8b, 9, 0, 0, 0, 0, 0, 0, 0}, ErrFormat, ""},
	} {
		used := allocated(func() {
			_, err := ReadIDX(bytes.NewReader(c.data))
			wants(t, name, err, c.kind, "IDX", c.words)
		})
		if used > 1<<19 {
			t.Errorf("%s: %d bytes were allocated", name, used)
		}
	}
	if _, err := ReadIDX(failing{}); !errors.Is(err, errFire) || isContent(err) {
		t.Errorf("a failing disk: %v", err)
	}
}

// idxFiles writes the four files of a set with n and m images of 2×3 pixels.
func idxFiles(t *testing.T, dir, end string, n, m int) {
	t.Helper()
	os.MkdirAll(dir, 0o755)
	for part, k := range map[string]int{"train": n, "t10k": m} {
		images, labels := make([]byte, 6*k), make([]byte, k)
		for i := range images {
			images[i] = byte(i + k)
		}
		for i := range labels {
			labels[i] = byte((i + k) % 10)
		}
		for name, x := range map[string]*IDX{
			part + "-images-idx3-ubyte": {IDXUint8, []int{k, 2, 3}, images}, part + "-labels-idx1-ubyte": {IDXUint8, []int{k}, labels},
		} {
			var b bytes.Buffer
			if _, err := x.WriteTo(&b); err != nil {
				t.Fatal(err)
			}
			data := b.Bytes()
			if end == ".gz" {
				data = gz(data)
			}
			if err := os.WriteFile(filepath.Join(dir, name+end), data, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestMNIST(t *testing.T) {
	for _, c := range []struct{ sub, end string }{{"", ""}, {"", ".gz"}, {"MNIST/raw", ".gz"}, {"raw", ""}} {
		dir := t.TempDir()
		idxFiles(t, filepath.Join(dir, c.sub), c.end, 7, 3)
		train, test, err := MNIST(dir)
		if err != nil {
			t.Error(err)
			continue
		}
		if train.Len() != 7 || test.Len() != 3 || train.Shape != [3]int{1, 2, 3} || !bytes.Equal(train.Pixels(1), []byte{13, 14, 15, 16, 17, 18}) || test.Labels[2] != 5 {
			t.Errorf("%v: %d and %d images %v", c, train.Len(), test.Len(), train.Shape)
		}
		if len(train.Files) != 4 || train.Files[0].Name != "train-images-idx3-ubyte"+c.end || train.Files[0].Verified != Structure {
			t.Errorf("%+v", train.Files)
		}
	}
	dir := t.TempDir()
	idxFiles(t, dir, "", 4, 2)
	os.Rename(filepath.Join(dir, "train-images-idx3-ubyte"), filepath.Join(dir, "train-images.idx3-ubyte"))
	if train, _, err := FashionMNIST(dir); err != nil || train.Classes[9] != "Ankle boot" {
		t.Error(err)
	}
	m, err := IDXImages(filepath.Join(dir, "train-images.idx3-ubyte"), filepath.Join(dir, "train-labels-idx1-ubyte"), mnistClasses)
	if err != nil || m.Len() != 4 {
		t.Error(err)
	}
	_, err = IDXImages(filepath.Join(dir, "train-images.idx3-ubyte"), filepath.Join(dir, "train-labels-idx1-ubyte"), mnistClasses[:7])
	wants(t, "classes", err, ErrFormat, "train-labels-idx1-ubyte", "labels from 0 to 6", "label 7 at 3")
	var b bytes.Buffer
	(&IDX{IDXUint8, []int{4, 3, 1, 2}, make([]byte, 24)}).WriteTo(&b)
	color := filepath.Join(dir, "color")
	os.WriteFile(color, b.Bytes(), 0o644)
	if m, err := IDXImages(color, filepath.Join(dir, "train-labels-idx1-ubyte"), mnistClasses); err != nil || m.Shape != [3]int{3, 1, 2} {
		t.Error(err)
	}
}

func TestMNISTRefuses(t *testing.T) {
	write := func(dir, name string, x IDX) {
		var b bytes.Buffer
		x.WriteTo(&b)
		os.WriteFile(filepath.Join(dir, name), b.Bytes(), 0o644)
	}
	for name, c := range map[string]struct {
		change func(dir string)
		kind   error
		file   string
		words  string
	}{
		"missing":         {func(d string) { os.Remove(d + "/t10k-labels-idx1-ubyte") }, fs.ErrNotExist, "t10k-labels-idx1-ubyte.gz", "four files of MNIST"},
		"labels":          {func(d string) { write(d, "train-labels-idx1-ubyte", IDX{IDXUint8, []int{3}, make([]byte, 3)}) }, ErrFormat, "train-labels-idx1-ubyte", "expected 4 labels"},
		"swapped":         {func(d string) { os.Rename(d+"/train-labels-idx1-ubyte", d+"/train-images-idx3-ubyte") }, ErrFormat, "train-images-idx3-ubyte", "dimensions"},
		"floats":          {func(d string) { write(d, "t10k-labels-idx1-ubyte", IDX{IDXFloat32, []int{2}, make([]byte, 8)}) }, ErrFormat, "t10k-labels-idx1-ubyte", "type 0x0d"},
		"other test size": {func(d string) { write(d, "t10k-images-idx3-ubyte", IDX{IDXUint8, []int{2, 1, 1}, make([]byte, 2)}) }, ErrFormat, "t10k-images-idx3-ubyte", "[1 2 3]"},
		"none":            {func(d string) { write(d, "t10k-images-idx3-ubyte", IDX{IDXUint8, []int{0, 2, 3}, nil}) }, ErrFormat, "t10k-images-idx3-ubyte", "at least one"},
		"cut":             {func(d string) { os.Truncate(d+"/train-images-idx3-ubyte", 20) }, ErrTruncated, "train-images-idx3-ubyte", "[4 2 3]"},
	} {
		dir := t.TempDir()
		idxFiles(t, dir, "", 4, 2)
		c.change(dir)
		_, _, err := MNIST(dir)
		wants(t, name, err, c.kind, c.file, c.words)
	}
	// A file of the official size must have the official content.
	dir := t.TempDir()
	idxFiles(t, dir, "", 4, 2)
	write(dir, "t10k-labels-idx1-ubyte", IDX{IDXUint8, []int{10000}, make([]byte, 10000)})
	_, _, err := MNIST(dir)
	wants(t, "official size", err, ErrChecksum, "t10k-labels-idx1-ubyte", "md5:27ae3e4e09519cfbb04c329615203637")
}

// TestOneSetForTheOther gives MNIST a file that the table knows as Fashion-MNIST's.
func TestOneSetForTheOther(t *testing.T) {
	defer func(m, f []known) { mnistKnown, fashionKnown = m, f }(mnistKnown, fashionKnown)
	dir := t.TempDir()
	idxFiles(t, dir, "", 4, 2)
	data, _ := os.ReadFile(filepath.Join(dir, "train-images-idx3-ubyte"))
	sum := md5.Sum(data)
	mnistKnown = []known{{"train-images-idx3-ubyte", int64(len(data)), "md5:" + strings.Repeat("2", 32)}}
	fashionKnown = []known{{"train-images-idx3-ubyte", int64(len(data)), "md5:" + hex.EncodeToString(sum[:])}}
	_, _, err := MNIST(dir)
	wants(t, "Fashion-MNIST", err, ErrChecksum, "train-images-idx3-ubyte", "read it with the function for Fashion-MNIST")
	train, _, err := FashionMNIST(dir)
	if err != nil || train.Files[0].Verified != Official {
		t.Error(err)
	}
	os.Rename(filepath.Join(dir, "train-images-idx3-ubyte"), filepath.Join(dir, "train-images.idx3-ubyte"))
	if train, _, err = FashionMNIST(dir); err != nil || train.Files[0].Verified != Official {
		t.Error("under the other name: ", err)
	}
}
