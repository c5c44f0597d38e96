package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"time"

	"github.com/halftone-ml/halftone/amp"
)

// beCell is what a notebook's cell does at least: a process that opens the GPU, loads kernels and takes training steps.
func beCell() error {
	began := time.Now()
	root := amp.NewScope(amp.On("cuda:0"), amp.Seed(1))
	defer root.Close()
	m, scaler := trainMLP(root), amp.NewGradScaler(amp.InitScale(1024))
	loss := 0.0
	for s := range root.Steps(10) {
		l := m.loss(s.Autocast(amp.Float16))
		m.opt.ZeroGrad()
		scaler.Scale(s, l).Backward()
		scaler.Step(m.opt)
		scaler.Update()
		loss = l.Item()
	}
	fmt.Fprintf(os.Stderr, "cell: loss %.3g after 10 steps, %v after its start\n", loss, time.Since(began).Round(time.Millisecond))
	return nil
}

// timeCells times such processes from start to end: the first with the driver's cache of compiled kernels empty, the others with it full.
func timeCells() error {
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "gpubench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	run := func() float64 {
		cmd := exec.Command(exe, "-cell")
		cmd.Env, cmd.Stderr = append(os.Environ(), "CUDA_CACHE_PATH="+dir), os.Stderr
		began := time.Now()
		must(cmd.Run())
		return ms(began)
	}
	return attempt(func() {
		out := json.NewEncoder(os.Stdout)
		must(out.Encode(figure{"a cell of 10 MLP steps, the first", run(), "ms", "process, context, kernels compiled by the driver, end"}))
		must(out.Encode(figure{"a cell of 10 MLP steps, warm", median(size(5, 1), run), "ms", "process, context, kernels from the driver's cache, end; without compiling Go"}))
	})
}
