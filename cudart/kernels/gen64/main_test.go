package main

import (
	"os"
	"path/filepath"
	"testing"
)

// TestHeaderIsOfToday: math64.h is what go generate makes of the CPU's functions as they are now.
func TestHeaderIsOfToday(t *testing.T) {
	src, err := os.ReadFile(filepath.Join("..", source))
	if err != nil {
		t.Fatal(err)
	}
	have, err := os.ReadFile(filepath.Join("..", result))
	if err != nil {
		t.Fatal(err)
	}
	want, err := header64(string(src))
	if err != nil {
		t.Fatal(err)
	}
	if string(have) != want {
		t.Errorf("%s is not that of %s: go generate . in cudart/kernels", result, source)
	}
}
