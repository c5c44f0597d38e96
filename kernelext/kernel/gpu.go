package kernel

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/halftone-ml/halftone/cudart/libraries"
)

// A gpuTool is the program that does what needs a GPU's driver, in the place of this process: cmd/halftone-gpu. It is built from the
// checkout like a cell, when it is first needed.
type gpuTool struct {
	checkout, dir string
	env           []string

	once sync.Once
	path string
	err  error
}

const gpuPackage = "./kernelext/cmd/halftone-gpu"

// gpuPatience is how long building it, or reading a session, may take.
const gpuPatience = 5 * time.Minute

func (g *gpuTool) build(ctx context.Context) (string, error) {
	g.once.Do(func() {
		if g.checkout == "" {
			g.err = errors.New("there is no checkout to build a reader of GPU memory from")
			return
		}
		g.path = filepath.Join(g.dir, "halftone-gpu")
		args := []string{"build", "-o", g.path}
		if slices.Contains(g.env, libraries.ModeEnv+"="+libraries.ModeEmulator) {
			args = append(args, "-tags=halftone_emulator")
		}
		cmd := exec.CommandContext(ctx, lookPath(g.env, "go"), append(args, gpuPackage)...)
		cmd.Dir, cmd.Env = g.checkout, setEnv(g.env, "GOWORK=off", "PWD="+g.checkout)
		if out, err := cmd.CombinedOutput(); err != nil {
			g.err = fmt.Errorf("building %s: %w\n%s", gpuPackage, err, out)
		}
	})
	return g.path, g.err
}

// read is an admin.Reader.
func (g *gpuTool) read(device string, files []*os.File, size int64, parts [][2]int64) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), gpuPatience)
	defer cancel()
	path, err := g.build(ctx)
	if err != nil {
		return nil, err
	}
	var ask strings.Builder
	for _, p := range parts {
		fmt.Fprintln(&ask, p[0], p[1])
	}
	cmd := exec.CommandContext(ctx, path, "read", device, fmt.Sprint(size), fmt.Sprint(len(files)))
	var out, errs bytes.Buffer
	cmd.Env, cmd.ExtraFiles, cmd.Stdin, cmd.Stdout, cmd.Stderr = g.env, files, strings.NewReader(ask.String()), &out, &errs
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, strings.TrimSpace(errs.String()))
	}
	return out.Bytes(), nil
}

// warmDelay leaves the machine to the start of the kernel.
const warmDelay = 2 * time.Second

// warmInBackground has the driver compile kernels ahead of the first cell, once for each driver and version of Halftone. What it
// returns ends that.
func (k *kernel) warmInBackground(g *gpuTool) (stop func()) {
	driver, _ := os.ReadFile("/proc/driver/nvidia/version")
	stamp, mark := filepath.Join(k.opts.Tmp, "gpu-warm"), append(driver, k.opts.Version...)
	if b, err := os.ReadFile(stamp); err == nil && bytes.Equal(b, mark) {
		return func() {}
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		select {
		case <-ctx.Done():
			return
		case <-time.After(warmDelay):
		}
		if err := g.warm(ctx); err == nil && ctx.Err() == nil {
			_ = os.WriteFile(stamp, mark, 0o600)
		}
	}()
	return func() {
		cancel()
		<-done
	}
}

// warm has the driver compile common kernels, at the lowest priority and behind the user's back: what it has compiled once it keeps.
func (g *gpuTool) warm(ctx context.Context) error {
	path, err := g.build(ctx)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, path, "warm")
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 5 * time.Second
	cmd.Env = g.env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // an interrupt of the cell is none of its
	var errs bytes.Buffer
	cmd.Stderr = &errs
	if err := cmd.Start(); err != nil {
		return err
	}
	_ = unix.Setpriority(unix.PRIO_PROCESS, cmd.Process.Pid, 19)
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("%w: %s", err, strings.TrimSpace(errs.String()))
	}
	return nil
}
