package main

import (
	"context"
	"os/exec"
)

// compilers installs what the tests of CUDA kernels compile with: a C++ compiler for the emulator, and the clang that makes the
// PTX (cudart/kernels/clang.version).
func (r *runner) compilers(ctx context.Context) (string, error) {
	if _, err := exec.LookPath("g++"); err != nil {
		if _, err := exec.LookPath("clang++"); err != nil {
			r.debian(ctx, "g++", "tests on the emulated GPU will be skipped", "g++")
		}
	}
	if _, err := exec.LookPath("clang-19"); err != nil {
		r.debian(ctx, "clang-19", "the kernels' PTX will not be made again and compared", "clang-19")
	}
	return "", nil
}
