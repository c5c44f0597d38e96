package dataset

import (
	"bytes"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/amp"
)

// ten returns n images of CIFAR's shape, all bytes v.
func ten(n int, v byte) *Images {
	m := &Images{Data: bytes.Repeat([]byte{v}, n*cifarPixels), Labels: make([]uint8, n), Shape: [3]int{3, 32, 32}, Classes: []string{"a", "b"}}
	return m
}

// TestSetsThatDoNotFitThemselves: labels, numbers and data that do not belong together are an *amp.Error with the method's name.
func TestSetsThatDoNotFitThemselves(t *testing.T) {
	good, short, wrong, huge := ten(3, 1), ten(3, 1), ten(3, 1), ten(1, 1)
	short.Data = short.Data[:5000]
	wrong.Labels[2] = 7
	huge.Shape = [3]int{1 << 40, 1 << 40, 1}
	for op, calls := range map[string][]func(){
		"Images.Pixels": {func() { good.Pixels(-1) }, func() { good.Pixels(3) }, func() { short.Pixels(0) }, func() { huge.Pixels(0) }, func() { short.Select(1) }},
		"Images.Slice":  {func() { short.Slice(0, 3) }},
		"Images.Stats":  {func() { short.Stats() }},
		"Images.Counts": {func() { wrong.Counts() }},
		"Images.Sheet":  {func() { short.Sheet(1, 1) }},
		"NewLoader":     {func() { NewLoader(nil, 2) }, func() { NewLoader((*Images)(nil), 2) }},
	} {
		for i, call := range calls {
			if err := amp.Maybe(call); !errors.Is(err, amp.ErrArgument) || !strings.HasPrefix(err.Error(), "amp: "+op+":") {
				t.Errorf("%s, call %d: %v", op, i, err)
			}
		}
	}
	if b := good.Sheet(math.MaxInt, math.MaxInt).Bounds(); b.Dx() != 3*34+2 || b.Dy() != 34+2 {
		t.Errorf("a sheet of three images is %v", b)
	}
}

// TestWriteCIFAR10IsWholeOrNothing: a set that can't be written leaves the one before it as it was and no temporary file, and the error
// names the file.
func TestWriteCIFAR10IsWholeOrNothing(t *testing.T) {
	dir := t.TempDir()
	if err := WriteCIFAR10(dir, ten(5, 1), ten(1, 1)); err != nil {
		t.Fatal(err)
	}
	bad := ten(1, 2)
	bad.Labels[0] = 9
	for _, sets := range [][2]*Images{{ten(5, 2), bad}, {nil, nil}, {ten(5, 2), nil}} {
		if err := WriteCIFAR10(dir, sets[0], sets[1]); err == nil || !strings.Contains(err.Error(), "; fix: ") {
			t.Error(err)
		}
	}
	w := newFiles{dir: dir, tmp: t.TempDir()}
	w.add("data_batch_1.bin", nil)
	w.add(filepath.Join("none", "test_batch.bin"), nil) // a file that cannot be written
	err := w.place()
	if file := (*FileError)(nil); !errors.As(err, &file) || file.File != filepath.Join(dir, "none", "test_batch.bin") || file.Fix == "" {
		t.Error(err)
	}
	mine := filepath.Join(dir, "test_batch.bin.new")
	if err := os.WriteFile(mine, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := WriteCIFAR10(dir, ten(5, 1), ten(1, 1)); err != nil {
		t.Error(err)
	}
	if b, err := os.ReadFile(mine); err != nil || string(b) != "mine" {
		t.Errorf("a file of the user's: %q, %v", b, err)
	}
	if err := os.Remove(mine); err != nil {
		t.Fatal(err)
	}
	train, test, err := CIFAR10(dir)
	if err != nil || train.Pixels(0)[0] != 1 || test.Pixels(0)[0] != 1 {
		t.Errorf("%v, the first set is gone", err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*.new")); len(left) > 0 {
		t.Errorf("%v are left behind", left)
	}
	err = WriteCIFAR10(filepath.Join(dir, "test_batch.bin", "x"), ten(5, 2), ten(1, 2))
	if file := (*FileError)(nil); !errors.As(err, &file) || file.Fix == "" {
		t.Error(err)
	}
}
