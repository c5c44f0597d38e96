package main

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/halftone-ml/halftone/kernelext/install"
)

// A room is a file system that tests write to, and how much of it was free. Of one that is full each test tells in its own words, and
// some do not.
type room struct {
	dir          string
	first, least int64 // bytes
}

// rooms returns those that folders lie in, each once.
func rooms(dirs ...string) []*room {
	var list []*room
	seen := map[uint64]bool{}
	for _, dir := range dirs {
		var st syscall.Stat_t
		free, err := install.FreeBytes(dir)
		if err != nil || syscall.Stat(dir, &st) != nil || seen[uint64(st.Dev)] {
			continue
		}
		seen[uint64(st.Dev)] = true
		list = append(list, &room{dir, free, free})
	}
	return list
}

// watch looks again and again until ctx ends.
func watch(ctx context.Context, list []*room) {
	for tick := time.Tick(time.Second); ctx.Err() == nil; {
		for _, r := range list {
			if free, err := install.FreeBytes(r.dir); err == nil {
				r.least = min(r.least, free)
			}
		}
		select {
		case <-ctx.Done():
		case <-tick:
		}
	}
}

// tight is the room below which something may have failed for want of it.
const tight = 256 << 20

func (r *room) String() string {
	s := fmt.Sprintf("disk of %s: %.1f GB were free at first, %.1f GB at least", r.dir, float64(r.first)/1e9, float64(r.least)/1e9)
	if r.least < tight {
		s += "; that is too little, and failures may be due to it: the tests take some 5 GB"
	}
	return s
}

// goCache is the folder that the go command keeps what it compiles in, "" if it does not say.
func goCache(ctx context.Context) string {
	out, _ := exec.CommandContext(ctx, "go", "env", "GOCACHE").Output()
	return strings.TrimSpace(string(out))
}

// watchDisk watches the disks of folders, and returns what ends that and tells.
func watchDisk(dirs ...string) func() string {
	ctx, cancel := context.WithCancel(context.Background())
	list := rooms(dirs...)
	done := make(chan struct{})
	go func() {
		watch(ctx, list)
		close(done)
	}()
	return func() string {
		cancel()
		<-done
		var b strings.Builder
		for _, r := range list {
			fmt.Fprintln(&b, r)
		}
		return b.String()
	}
}
