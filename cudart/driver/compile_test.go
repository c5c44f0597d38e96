package driver

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// What NVRTC 13.5 printed for three faulty programs.
const nvrtcLog = `cell.cu(3): error: identifier "y" is undefined
   x[threadIdx.x]*=y;
                   ^

ov.cu(2): error: no instance of overloaded function "f" matches the argument list
            argument types are: (int, int)
  __global__ void k(){ f(1,2);
                       ^
ov.cu(1): note #3326-D: function "f(A, int)" does not match because argument #1 does not match parameter
  struct A{}; void f(int,A); void f(A,int);
                                  ^

ov.cu(3): warning #550-D: variable "big" was set but never used
   __shared__ int big[100000000]; big[0]=1;}
                  ^

Remark: The warnings can be suppressed with "-diag-suppress <warning-number>"

cell.cu(1): catastrophic error: could not open source file "cuda_fp16.h" (no directories in search list)
  #include <cuda_fp16.h>
                        ^

1 catastrophic error detected in the compilation of "cell.cu".
Compilation terminated.
ptxas application ptx input, line 24; error   : Unknown modifier '.op'
ptxas fatal   : Ptx assembly aborted due to errors
kernel.cu(2): Error: Formal parameter space overflowed (40008 bytes required, max 32764 bytes allowed) in function k
At end of source: error: expected a "}"
kernel.cu(1): note #3196-D: to match this "{"
  extern "C" __global__ void k(float *x) {
                                         ^

`

func TestParseLog(t *testing.T) {
	want := []Diagnostic{
		{"cell.cu", 3, "error", "", `identifier "y" is undefined`, ` x[threadIdx.x]*=y;`},
		{"ov.cu", 2, "error", "", `no instance of overloaded function "f" matches the argument list argument types are: (int, int)`, `__global__ void k(){ f(1,2);`},
		{"ov.cu", 1, "note", "#3326-D", `function "f(A, int)" does not match because argument #1 does not match parameter`, `struct A{}; void f(int,A); void f(A,int);`},
		{"ov.cu", 3, "warning", "#550-D", `variable "big" was set but never used`, ` __shared__ int big[100000000]; big[0]=1;}`},
		{"cell.cu", 1, "catastrophic error", "", `could not open source file "cuda_fp16.h" (no directories in search list)`, `#include <cuda_fp16.h>`},
		{"", 0, "error", "", `Unknown modifier '.op'`, ""},
		{"", 0, "error", "", `Ptx assembly aborted due to errors`, ""},
		{"kernel.cu", 2, "error", "", `Formal parameter space overflowed (40008 bytes required, max 32764 bytes allowed) in function k`, ""},
		{"", 0, "error", "", `expected a "}" at the end of the source`, ""},
		{"kernel.cu", 1, "note", "#3196-D", `to match this "{"`, `extern "C" __global__ void k(float *x) {`},
	}
	got := parseLog(nvrtcLog)
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i] != want[i] {
			t.Fatalf("message %d:\n got %+v\nwant %+v", i, got[min(i, len(got)):], want[min(i, len(want)):])
		}
	}
	err := &CompileError{Name: "cell.cu", Log: nvrtcLog, Diagnostics: got}
	if s := err.Error(); !strings.Contains(s, "cell.cu:3: error: identifier \"y\" is undefined\n\tx[threadIdx.x]*=y;") || strings.Contains(s, "warning") {
		t.Error(s)
	}
	if s := (&CompileError{Name: "x.cu", Log: "something else"}).Error(); !strings.Contains(s, "something else") {
		t.Error(s)
	}
}

func TestSourceKey(t *testing.T) {
	base := Source{Text: "text", Options: []string{"-Da", "-Db"}, Headers: map[string]string{"h": "x"}, Arch: 90}
	seen := map[string]string{base.key("nvrtc 13.0", "sm_90"): "base"}
	add := func(what, key string) {
		if other := seen[key]; other != "" {
			t.Errorf("%s has the key of %s", what, other)
		}
		seen[key] = what
	}
	add("another version", base.key("nvrtc 13.1", "sm_90"))
	add("another target", base.key("nvrtc 13.0", "sm_80"))
	for what, change := range map[string]func(*Source){
		"another text":     func(s *Source) { s.Text = "texts" },
		"another name":     func(s *Source) { s.Name = "other.cu" },
		"another order":    func(s *Source) { s.Options = []string{"-Db", "-Da"} },
		"one option":       func(s *Source) { s.Options = []string{"-Da-Db"} },
		"an option less":   func(s *Source) { s.Options = s.Options[:1] },
		"another header":   func(s *Source) { s.Headers = map[string]string{"h": "y"} },
		"a moved boundary": func(s *Source) { s.Options, s.Headers = []string{"-Da", "-Db", "h"}, map[string]string{"x": ""} },
	} {
		s := base
		change(&s)
		add(what, s.key("nvrtc 13.0", "sm_90"))
	}
	if again := base; seen[again.key("nvrtc 13.0", "sm_90")] != "base" {
		t.Error("the same source has another key")
	}
}

func TestCache(t *testing.T) {
	c := &Cache{Dir: filepath.Join(t.TempDir(), "a", "b")}
	code := Code{Image: []byte("image\x00bytes"), Log: "k.cu(1): warning: w\n"}
	if _, ok := c.load("k"); ok {
		t.Fatal("an empty cache had it")
	}
	if err := c.store("k", code); err != nil {
		t.Fatal(err)
	}
	got, ok := c.load("k")
	if !ok || string(got.Image) != string(code.Image) || got.Log != code.Log || !got.Cached || len(got.Diagnostics) != 1 {
		t.Fatalf("%+v", got)
	}
	whole, err := os.ReadFile(c.file("k"))
	if err != nil {
		t.Fatal(err)
	}
	// Every way to cut it, and every damaged byte, is noticed.
	for i := range whole {
		damaged := slices.Clone(whole)
		damaged[i] ^= 0x40
		for _, content := range [][]byte{whole[:i], damaged} {
			if err := os.WriteFile(c.file("k"), content, 0o600); err != nil {
				t.Fatal(err)
			}
			if got, ok := c.load("k"); ok {
				t.Fatalf("byte %d: %+v", i, got)
			}
		}
	}
	if _, err := os.Stat(c.file("k")); err == nil {
		t.Error("a damaged file is still there")
	}
	if (*Cache)(nil).store("k", code) != nil {
		t.Error("no cache is an error")
	}
	if err := (&Cache{Dir: filepath.Join(os.DevNull, "x")}).store("k", code); err == nil {
		t.Error("a cache under a file was written")
	}
}

func TestCacheKeepsTheRecent(t *testing.T) {
	c := &Cache{Dir: t.TempDir(), Bytes: 2500}
	old := filepath.Join(c.Dir, "new-crashed")
	if err := os.WriteFile(old, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	past := time.Now().Add(-2 * time.Hour)
	if err := os.Chtimes(old, past, past); err != nil {
		t.Fatal(err)
	}
	for i, key := range []string{"a", "b", "c"} {
		if err := c.store(key, Code{Image: make([]byte, 1000)}); err != nil {
			t.Fatal(err)
		}
		when := past.Add(time.Duration(i) * time.Minute)
		if key == "c" {
			break
		}
		if err := os.Chtimes(c.file(key), when, when); err != nil {
			t.Fatal(err)
		}
	}
	_, a := c.load("a")
	_, b := c.load("b")
	_, last := c.load("c")
	if a || !b || !last {
		t.Errorf("kept: %v %v %v; the first was to go", a, b, last)
	}
	if _, err := os.Stat(old); err == nil {
		t.Error("what a crashed writer left is still there")
	}
}
