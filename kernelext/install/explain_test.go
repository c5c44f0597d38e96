package install

import (
	"errors"
	"io/fs"
	"strings"
	"syscall"
	"testing"
)

func TestFailuresSayWhatToDo(t *testing.T) {
	for name, c := range map[string]struct {
		err    error
		output string
		want   string
	}{
		"disk full":   {syscall.ENOSPC, "", "The disk is full"},
		"disk full 2": {errors.New("exit status 1"), "ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device", "The disk is full"},
		"read-only":   {&fs.PathError{Op: "mkdir", Path: "/x", Err: syscall.EROFS}, "", "read-only"},
		"permission":  {&fs.PathError{Op: "mkdir", Path: "/x", Err: syscall.EACCES}, "", "You may not write there"},
		"no network":  {errors.New("exit status 1"), "dial tcp: lookup proxy.example: no such host", "Check the network"},
		"no pip net":  {errors.New("exit status 1"), "ERROR: No matching distribution found for anyio==4.16.0", "Check the network"},
		"hash":        {errors.New("exit status 1"), "ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE", "pinned checksum"},
	} {
		t.Run(name, func(t *testing.T) {
			err := explain("doing it", "/home/u/halftone", c.err, c.output)
			if !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "doing it: ") {
				t.Errorf("%v", err)
			}
			if !errors.Is(err, c.err) {
				t.Error("the cause is lost")
			}
			if again := explain("outer", "", err, ""); again != err {
				t.Errorf("wrapped twice: %v", again)
			}
		})
	}
}

func TestFailuresShowWhatMatters(t *testing.T) {
	output := "Collecting a\n" + strings.Repeat("  Downloading b\n", 50) + "ERROR: it broke " + strings.Repeat("x", 1000) + "\nInstalling collected packages\n"
	text := explain("doing it", "/h", errors.New("exit status 1"), output).Error()
	if !strings.Contains(text, "ERROR: it broke") || strings.Contains(text, "Downloading") || len(text) > 500 {
		t.Errorf("%s", text)
	}
	if text := explain("doing it", "/h", errors.New("exit status 1"), "one\ntwo\n").Error(); !strings.Contains(text, "one\n    two") {
		t.Errorf("%s", text)
	}
}
