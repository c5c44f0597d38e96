package safetensors_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/safetensors"
)

// TestElementsThatAreNoBools are the file's fault, as errors.Is says.
func TestElementsThatAreNoBools(t *testing.T) {
	b := file(`{"a":{"dtype":"BOOL","shape":[2],"data_offsets":[0,2]}}`, 2)
	b[len(b)-1] = 2
	r, err := safetensors.NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	_, all := r.All()
	for _, err := range []error{all, r.ReadInto("a", amp.From([]bool{true, true}))} {
		if !errors.Is(err, safetensors.ErrFormat) || !strings.Contains(err.Error(), "element 1 of a bool tensor is 2") {
			t.Error(err)
		}
	}
}

// TestSurrogates: half of a pair is no name; a pair is, and what only looks like an escape.
func TestSurrogates(t *testing.T) {
	for name, want := range map[string]string{
		`\ud83d\ude00`: "😀", `\\ud800`: `\ud800`, `\\\\ud800`: `\\ud800`, `a\u00e9`: "aé", `\n\\`: "\n\\",
		`\ud800`: "", `\udc00`: "", `\ud800\ud800`: "", `\ud800x`: "", `\\\ud800`: "", `\ude00\ud83d`: "", `x\uD800\n`: "",
	} {
		b := file(`{"`+name+`":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}`, 4)
		r, err := safetensors.NewReader(bytes.NewReader(b), int64(len(b)))
		switch {
		case want == "" && !(errors.Is(err, safetensors.ErrFormat) && strings.Contains(err.Error(), "surrogate")):
			t.Errorf("%s: %v", name, err)
		case want != "" && (err != nil || r.Tensors()[0].Name != want):
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestSaveOfAFreedTensor is an error that names it and leaves no file behind; so is a reader that is not there.
func TestSaveOfAFreedTensor(t *testing.T) {
	dir := t.TempDir()
	x := amp.From([]float32{1})
	x.Free()
	err := safetensors.Save(filepath.Join(dir, "a.safetensors"), map[string]*amp.Tensor{"x": x}, nil)
	if !errors.Is(err, amp.ErrClosed) || !strings.Contains(err.Error(), `tensor "x"`) {
		t.Error(err)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("%v are left behind", left)
	}
	for _, err := range []error{second(safetensors.NewReader(nil, 8)), second(safetensors.NewReader((*os.File)(nil), 8))} {
		if err == nil || !strings.Contains(err.Error(), "the reader is nil") {
			t.Error(err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

// TestSavingSaysWhatToDo where the disk refuses.
func TestSavingSaysWhatToDo(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "taken", "x"), 0o755); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{filepath.Join(dir, "none", "a"): "name a file in a folder", filepath.Join(dir, "taken"): "make room, or save to another disk"} {
		if err := safetensors.Save(path, map[string]*amp.Tensor{"x": amp.From([]float32{1})}, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
}
