package main

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/halftone-ml/halftone/kernelext/install"
)

func TestWatchDisk(t *testing.T) {
	dir := t.TempDir()
	list := rooms(dir, dir, filepath.Join(dir, "nowhere"))
	if len(list) != 1 || list[0].first <= 0 {
		t.Fatalf("%v", list)
	}
	told := watchDisk(dir, dir)
	if s := told(); !strings.HasPrefix(s, "disk of "+dir+": ") {
		t.Errorf("%q", s)
	}
	// The least is what counts.
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	list[0].least = 1 << 62
	go func() {
		watch(ctx, list)
		close(done)
	}()
	time.Sleep(50 * time.Millisecond)
	cancel()
	<-done
	if free, err := install.FreeBytes(dir); err != nil || list[0].least == 1<<62 || free <= 0 {
		t.Errorf("%v, %v", list[0], err)
	}
	for r, want := range map[room]string{
		{"/x", 8e9, 3.25e9}: "disk of /x: 8.0 GB were free at first, 3.2 GB at least",
		{"/x", 8e9, 1e6}:    "disk of /x: 8.0 GB were free at first, 0.0 GB at least; that is too little, and failures may be due to it: the tests take some 5 GB",
	} {
		if r.String() != want {
			t.Errorf("%q", r.String())
		}
	}
}
