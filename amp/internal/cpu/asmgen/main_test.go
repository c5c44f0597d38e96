package main

import (
	"os"
	"testing"
)

// TestGeneratedFilesAreCurrent: what lies in the tree is what the generator writes.
func TestGeneratedFilesAreCurrent(t *testing.T) {
	for name, want := range generate() {
		got, err := os.ReadFile("../" + name)
		if err != nil {
			t.Error(err)
			continue
		}
		if string(got) != want {
			t.Errorf("%s is stale: run go generate ./amp/internal/cpu", name)
		}
	}
}
