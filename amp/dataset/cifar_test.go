package dataset

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/md5"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// pixels returns n random images [3 32 32] of ten classes.
func pixels(n int, seed uint64) *Images {
	r := rand.New(rand.NewPCG(seed, 0))
	m := &Images{Shape: [3]int{3, 32, 32}, Classes: []string{"zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"}}
	for range n {
		m.Labels = append(m.Labels, uint8(r.IntN(10)))
		for range cifarPixels {
			m.Data = append(m.Data, byte(r.Uint32()))
		}
	}
	return m
}

func sameImages(a, b *Images) bool {
	return bytes.Equal(a.Data, b.Data) && bytes.Equal(a.Labels, b.Labels) && a.Shape == b.Shape && slices.Equal(a.Classes, b.Classes)
}

// written returns a folder with a set of 13 and 4 images.
func written(t *testing.T) (dir string, train, test *Images) {
	t.Helper()
	dir, train, test = t.TempDir(), pixels(13, 1), pixels(4, 2)
	if err := WriteCIFAR10(dir, train, test); err != nil {
		t.Fatal(err)
	}
	return dir, train, test
}

func TestCIFAR10RoundTrip(t *testing.T) {
	dir, train, test := written(t)
	a, b, err := CIFAR10(dir)
	if err != nil {
		t.Fatal(err)
	}
	if !sameImages(a, train) || !sameImages(b, test) {
		t.Error("what was written is not what was read")
	}
	// 13 images over five files are 3 3 3 2 2, and a record is the label before the planes.
	for i, n := range []int{3, 3, 3, 2, 2} {
		data, err := os.ReadFile(filepath.Join(dir, cifarTrain[i]))
		if err != nil || len(data) != 3073*n {
			t.Errorf("%s has %d bytes", cifarTrain[i], len(data))
		}
		if i == 1 && (data[0] != train.Labels[3] || !bytes.Equal(data[1:3073], train.Pixels(3))) {
			t.Error("another record layout")
		}
	}
	if len(a.Files) != 7 || a.Files[1] != (File{"data_batch_1.bin", 3 * 3073, Structure}) {
		t.Errorf("%v", a.Files)
	}
	// As the archive unpacks it, below the folder that was given.
	above := t.TempDir()
	if err := os.Rename(dir, filepath.Join(above, "cifar-10-batches-bin")); err != nil {
		t.Fatal(err)
	}
	if a, _, err := CIFAR10(above); err != nil || !sameImages(a, train) {
		t.Error("not found in cifar-10-batches-bin: ", err)
	}
}

// wants checks a *FileError: its kind, that it names the file, and words it must contain.
func wants(t *testing.T, name string, err, kind error, file string, words ...string) {
	t.Helper()
	var fe *FileError
	if !errors.As(err, &fe) || !errors.Is(err, kind) {
		t.Errorf("%s: %v, want a *FileError of kind %v", name, err, kind)
		return
	}
	for _, w := range append(words, file, "fix: ") {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("%s: %q does not say %q", name, err, w)
		}
	}
}

func TestCIFAR10Refuses(t *testing.T) {
	record := func(label byte) []byte { return append([]byte{label}, make([]byte, 3072)...) }
	for name, c := range map[string]struct {
		file  string
		data  []byte // nil: remove it
		kind  error
		words []string
	}{
		"missing batch":      {"data_batch_3.bin", nil, fs.ErrNotExist, []string{"cifar-10-binary.tar.gz"}},
		"missing first":      {"data_batch_1.bin", nil, fs.ErrNotExist, nil},
		"missing test":       {"test_batch.bin", nil, fs.ErrNotExist, nil},
		"missing names":      {"batches.meta.txt", nil, fs.ErrNotExist, nil},
		"cut record":         {"data_batch_2.bin", make([]byte, 3*3073-1), ErrTruncated, []string{"9218 bytes", "2 of them and 3072 bytes", "records of 3073"}},
		"cut at a record":    {"data_batch_2.bin", record(1), ErrTruncated, []string{"expected 3 records", "found 1"}},
		"longer than first":  {"data_batch_4.bin", bytes.Repeat(record(1), 4), ErrTruncated, []string{"found 4"}},
		"longer than before": {"data_batch_5.bin", bytes.Repeat(record(1), 3), ErrTruncated, []string{"found 3"}},
		"empty":              {"test_batch.bin", []byte{}, ErrTruncated, []string{"0 bytes"}},
		"CIFAR-100":          {"data_batch_1.bin", make([]byte, 2*3074), ErrFormat, []string{"CIFAR-100"}},
		"gzip":               {"data_batch_1.bin", []byte{0x1f, 0x8b, 8, 0}, ErrFormat, []string{"gzip", "unpack"}},
		"label":              {"test_batch.bin", append(record(9), record(10)...), ErrFormat, []string{"label 10 in record 1", "0 to 9"}},
		"no names":           {"batches.meta.txt", []byte("\n \n"), ErrFormat, []string{"0 lines"}},
		"binary names":       {"batches.meta.txt", []byte{0xff, 0xfe}, ErrFormat, nil},
	} {
		dir, _, _ := written(t)
		path := filepath.Join(dir, c.file)
		if c.data == nil {
			os.Remove(path)
		} else if err := os.WriteFile(path, c.data, 0o644); err != nil {
			t.Fatal(err)
		}
		_, _, err := CIFAR10(dir)
		wants(t, name, err, c.kind, c.file, c.words...)
	}
	dir := t.TempDir()
	os.WriteFile(filepath.Join(dir, "data_batch_1"), nil, 0o644)
	_, _, err := CIFAR10(dir)
	wants(t, "Python version", err, fs.ErrNotExist, "data_batch_1.bin", "Python version")
	dir, _, _ = written(t)
	os.Remove(filepath.Join(dir, "test_batch.bin"))
	os.Mkdir(filepath.Join(dir, "test_batch.bin"), 0o755)
	_, _, err = CIFAR10(dir)
	wants(t, "a folder", err, ErrFormat, "test_batch.bin", "regular file")
}

func TestChecksums(t *testing.T) {
	dir, _, _ := written(t)
	data, _ := os.ReadFile(filepath.Join(dir, "test_batch.bin"))
	five, two := md5.Sum(data), sha256.Sum256(data)
	for _, sum := range []string{"md5:" + hex.EncodeToString(five[:]), "SHA256:" + strings.ToUpper(hex.EncodeToString(two[:]))} {
		_, test, err := CIFAR10(dir, Checksum("test_batch.bin", sum))
		if err != nil || test.Files[6].Verified != Given || test.Files[0].Verified != Structure {
			t.Errorf("%s: %v", sum, err)
		}
	}
	wrong := "md5:" + strings.Repeat("0", 32)
	_, _, err := CIFAR10(dir, Checksum("test_batch.bin", wrong))
	wants(t, "wrong sum", err, ErrChecksum, "test_batch.bin", wrong, "md5:"+hex.EncodeToString(five[:]))
	_, _, err = CIFAR10(dir, Checksum("test-batch.bin", wrong))
	wants(t, "misspelled file", err, fs.ErrNotExist, "test-batch.bin", "data_batch_1.bin")
	for _, bad := range []string{"md5:12", "crc32:00000000", strings.Repeat("0", 32), "sha256:" + strings.Repeat("x", 64)} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("Checksum accepts %q", bad)
				}
			}()
			Checksum("f", bad)
		}()
	}
}

// TestOfficialSizeNeedsOfficialContent makes files of the official class names and size with other content.
func TestOfficialSizeNeedsOfficialContent(t *testing.T) {
	defer func(k []known) { cifar10Known = k }(cifar10Known)
	dir, train, test := t.TempDir(), pixels(10, 3), pixels(2, 4)
	train.Classes, test.Classes = cifar10Classes, cifar10Classes
	if err := WriteCIFAR10(dir, train, test); err != nil {
		t.Fatal(err)
	}
	// The official size is 30,730,000 bytes; here the table says that of these files.
	cifar10Known = []known{{"data_batch_2.bin", 2 * 3073, "md5:" + strings.Repeat("1", 32)}, cifar10Known[0]}
	_, _, err := CIFAR10(dir)
	wants(t, "other content", err, ErrChecksum, "data_batch_2.bin", "dataset.Unverified()")
	if _, _, err := CIFAR10(dir, Unverified()); err != nil {
		t.Error(err)
	}
	data, _ := os.ReadFile(filepath.Join(dir, "data_batch_2.bin"))
	sum := md5.Sum(data)
	cifar10Known[0].sum = "md5:" + hex.EncodeToString(sum[:])
	if a, _, err := CIFAR10(dir); err != nil || a.Files[2].Verified != Official || a.Files[1].Verified != Structure {
		t.Errorf("official content: %v", err)
	}
	// Other class names are another set, which may have that size.
	cifar10Known[0].sum = "md5:" + strings.Repeat("1", 32)
	own := slices.Clone(cifar10Classes)
	own[3] = "lynx"
	train.Classes, test.Classes = own, own
	if err := WriteCIFAR10(dir, train, test); err != nil {
		t.Fatal(err)
	}
	if _, _, err := CIFAR10(dir); err != nil {
		t.Error(err)
	}
}

func TestKnownSums(t *testing.T) {
	seen := map[string]bool{}
	for _, set := range [][]known{cifar10Known, mnistKnown, fashionKnown} {
		for _, k := range set {
			if len(k.sum) != 4+32 || seen[k.sum] {
				t.Errorf("%s: %s", k.name, k.sum)
			}
			seen[k.sum] = true
			if strings.HasSuffix(k.name, ".bin") && k.bytes != 10000*cifarRecord {
				t.Errorf("%s has %d bytes", k.name, k.bytes)
			}
		}
	}
	if set, file := recognize("md5:8d4fb7e6c68d591d4c3dfef9ec88bf0d"); set != "Fashion-MNIST" || file != "train-images-idx3-ubyte.gz" {
		t.Error(set, file)
	}
}

// pack makes a .tar.gz of a folder's files, below the name the official archive has.
func pack(t testing.TB, dir string, skip string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	w.WriteHeader(&tar.Header{Name: "cifar-10-batches-bin/", Typeflag: tar.TypeDir, Mode: 0o755})
	w.WriteHeader(&tar.Header{Name: "cifar-10-batches-bin/readme.html", Size: 5, Mode: 0o644})
	w.Write([]byte("hello"))
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() == skip {
			continue
		}
		data, _ := os.ReadFile(filepath.Join(dir, e.Name()))
		w.WriteHeader(&tar.Header{Name: "cifar-10-batches-bin/" + e.Name(), Size: int64(len(data)), Mode: 0o644})
		w.Write(data)
	}
	w.Close()
	z.Close()
	return b.Bytes()
}

func TestCIFAR10Archive(t *testing.T) {
	dir, train, test := written(t)
	whole := pack(t, dir, "")
	at := t.TempDir()
	put := func(data []byte) {
		if err := os.WriteFile(filepath.Join(at, "cifar-10-binary.tar.gz"), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	put(whole)
	sum := sha256.Sum256(whole)
	a, b, err := CIFAR10(at, Checksum("cifar-10-binary.tar.gz", "sha256:"+hex.EncodeToString(sum[:])))
	if err != nil || !sameImages(a, train) || !sameImages(b, test) || a.Files[0].Verified != Given {
		t.Fatalf("%v", err)
	}
	// A checksum of a file in the archive.
	data, _ := os.ReadFile(filepath.Join(dir, "test_batch.bin"))
	five := md5.Sum(data)
	if _, _, err := CIFAR10(at, Checksum("test_batch.bin", "md5:"+hex.EncodeToString(five[:]))); err != nil {
		t.Error(err)
	}
	if a, _, err := CIFAR10(filepath.Join(at, "cifar-10-binary.tar.gz")); err != nil || !sameImages(a, train) {
		t.Error("the archive itself: ", err)
	}
	put(whole[:len(whole)-9])
	_, _, err = CIFAR10(at)
	wants(t, "cut archive", err, ErrTruncated, "cifar-10-binary.tar.gz", "download")
	_, _, err = CIFAR10(at, Checksum("cifar-10-binary.tar.gz", "sha256:"+hex.EncodeToString(sum[:])))
	wants(t, "cut archive of known sum", err, ErrChecksum, "cifar-10-binary.tar.gz")
	damaged := slices.Clone(whole)
	damaged[len(damaged)-6]++ // gzip's own sum
	put(damaged)
	_, _, err = CIFAR10(at)
	wants(t, "damaged archive", err, ErrChecksum, "cifar-10-binary.tar.gz")
	put([]byte("no archive at all"))
	_, _, err = CIFAR10(at)
	wants(t, "no archive", err, ErrFormat, "cifar-10-binary.tar.gz")
	put(pack(t, dir, "data_batch_4.bin"))
	_, _, err = CIFAR10(at)
	wants(t, "incomplete archive", err, fs.ErrNotExist, "data_batch_4.bin", "6 of the 7 files")
}

func TestWriteCIFAR10Refuses(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "none")
	named := func(names ...string) *Images {
		m := pixels(5, 1)
		clear(m.Labels)
		m.Classes = names
		return m
	}
	label := pixels(5, 1)
	label.Labels[4] = 10
	for name, c := range map[string][2]*Images{
		"shape":       {numbered(5), numbered(5)},
		"classes":     {pixels(5, 1), named("a")},
		"no classes":  {named(), named()},
		"few images":  {pixels(4, 1), pixels(1, 1)},
		"no test":     {pixels(5, 1), pixels(0, 1)},
		"line break":  {named("a\nb"), named("a\nb")},
		"outer space": {named(" a"), named(" a")},
		"label":       {label, pixels(1, 1)},
	} {
		if err := WriteCIFAR10(dir, c[0], c[1]); err == nil || !strings.Contains(err.Error(), "fix: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestArchiveClaims: a header that promises 1 GiB costs what arrives and no more.
func TestArchiveClaims(t *testing.T) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	w.WriteHeader(&tar.Header{Name: "data_batch_1.bin", Size: 1 << 30, Mode: 0o644})
	w.Write([]byte("little"))
	w.Flush()
	z.Close()
	used := allocated(func() {
		if _, err := readArchive("a", &b); !errors.Is(err, ErrTruncated) {
			t.Errorf("%v", err)
		}
	})
	if used > 1<<20 {
		t.Errorf("%d bytes were allocated", used)
	}
}

func TestReadExactly(t *testing.T) {
	for _, n := range []int{0, 1, 1 << 16, 1<<16 + 1, 300000} {
		data := bytes.Repeat([]byte{7}, n)
		got, err := readExactly(io.MultiReader(bytes.NewReader(data), strings.NewReader("more")), int64(n))
		if err != nil || !bytes.Equal(got, data) {
			t.Errorf("%d bytes: %d, %v", n, len(got), err)
		}
		if n > 0 {
			if got, err := readExactly(bytes.NewReader(data[:n-1]), int64(n)); err != io.ErrUnexpectedEOF || len(got) != n-1 {
				t.Errorf("%d of %d bytes: %d, %v", n-1, n, len(got), err)
			}
		}
	}
	if used := allocated(func() { readExactly(strings.NewReader("x"), 1<<40) }); used > 1<<17 {
		t.Errorf("a claim of a terabyte took %d bytes", used)
	}
	if _, err := readExactly(failing{}, 5); err == nil || errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("%v", err)
	}
}

// failing is a disk that can't be read.
type failing struct{}

var errFire = errors.New("disk on fire")

func (failing) Read([]byte) (int, error) { return 0, errFire }
