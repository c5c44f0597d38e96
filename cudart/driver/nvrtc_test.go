//go:build linux && (amd64 || arm64)

package driver_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/cudart/driver"
)

func TestCompileAndCache(t *testing.T) {
	n, err := driver.OpenNVRTC(fake(t).Path())
	if err != nil {
		t.Fatal(err)
	}
	if n.Version() != "13.0" || len(n.Archs()) != 2 {
		t.Errorf("%s for %v", n.Version(), n.Archs())
	}
	c := &driver.Cache{Dir: t.TempDir()}
	src := driver.Source{Text: "first\n", Headers: map[string]string{"b.h": "B", "a.h": "A"}, Options: []string{"-DX"}, Arch: 90}
	code, err := n.Compile(src, c)
	if err != nil || code.Cached || !strings.HasSuffix(string(code.Image), "of --gpu-architecture=sm_90 -DX\nfirst\n// a.h\nA// b.h\nB") {
		t.Fatalf("%q, %v", code.Image, err)
	}
	again, err := n.Compile(src, c)
	if err != nil || !again.Cached || string(again.Image) != string(code.Image) {
		t.Fatalf("%q, %v", again.Image, err)
	}
	// Damage is repaired by compiling again.
	files, _ := filepath.Glob(filepath.Join(c.Dir, "*.code"))
	if len(files) != 1 {
		t.Fatal(files)
	}
	if err := os.Truncate(files[0], 60); err != nil {
		t.Fatal(err)
	}
	if third, err := n.Compile(src, c); err != nil || third.Cached || string(third.Image) == string(code.Image) {
		t.Errorf("%q, %v", third.Image, err)
	}
	if last, err := n.Compile(src, c); err != nil || !last.Cached {
		t.Errorf("%q, %v", last.Image, err)
	}
	// Newer devices get PTX of the newest architecture, older ones an error.
	src.Arch = 120
	if code, err := n.Compile(src, nil); err != nil || !strings.Contains(string(code.Image), "=compute_90 ") {
		t.Errorf("%q, %v", code.Image, err)
	}
	src.Arch = 70
	if _, err := n.Compile(src, nil); !errors.Is(err, driver.ErrUnsupported) || !strings.Contains(err.Error(), "7.0") {
		t.Error(err)
	}
	// A folder that can't be written costs the cache, not the code.
	src.Arch = 90
	if code, err := n.Compile(src, &driver.Cache{Dir: filepath.Join(files[0], "x")}); err != nil || code.CacheError == nil || len(code.Image) == 0 {
		t.Errorf("%+v, %v", code, err)
	}
}

func TestCompileErrors(t *testing.T) {
	n, err := driver.OpenNVRTC(fake(t).Path())
	if err != nil {
		t.Fatal(err)
	}
	_, err = n.Compile(driver.Source{Name: "cell 3", Text: "one\ntwo syntax error\n", Arch: 90}, nil)
	var ce *driver.CompileError
	if !errors.As(err, &ce) || len(ce.Diagnostics) != 1 || ce.Diagnostics[0].File != "cell 3" || ce.Diagnostics[0].Line != 2 {
		t.Fatalf("%v", err)
	}
	var e *driver.Error
	if _, err := n.Compile(driver.Source{Text: "x", Arch: 90, Options: []string{"--bogus"}}, nil); !errors.As(err, &e) || e.Name != "NVRTC_ERROR_INVALID_OPTION" ||
		!strings.Contains(err.Error(), "unrecognized option --bogus") {
		t.Error(err)
	}
	if _, err := n.Compile(driver.Source{Text: "a\x00b", Arch: 90}, nil); err == nil {
		t.Error("a source with a zero byte was compiled in part")
	}
	if _, err := driver.OpenNVRTC("libc.so.6"); !errors.Is(err, driver.ErrNoCUDA) || !strings.Contains(err.Error(), "nvrtcVersion") {
		t.Error(err)
	}
}
