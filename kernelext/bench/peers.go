package bench

import (
	"bufio"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

//go:embed peers.py
var peersPy string

//go:embed peer/convert.c
var convertC string

// A Peer is a contender beside ours.
type Peer struct {
	Name  string // in the protocol, and in maps by peer
	Title string // in the table
	Go    bool   // one of goPeers rather than of peers.py
}

// Peers are the contenders in the order of the table.
var Peers = []Peer{{Name: "torch", Title: "PyTorch"}, {Name: "numpy", Title: "OpenBLAS"}, {Name: "c", Title: "C"},
	{Name: "gomlx", Title: "GoMLX", Go: true}, {Name: "gonum", Title: "gonum", Go: true}}

// hopeless is how many times slower than the fastest a peer has to be in the first round to be left out of the others: its column then shows
// that round, and the ratio, of which it is no part, costs no minutes.
const hopeless = 4

// patience bounds a peer's answer: one that hangs is ended, and a new one is asked for the next case.
const patience = 2 * time.Minute

// beginPeer starts a peer and returns it with its version, or nil and why it is not there.
func (c *Compare) beginPeer(ctx context.Context, dir string, tools built, peer Peer, threads int) (*contender, string) {
	argv := []string{c.Python, "-c", peersPy, peer.Name, strconv.Itoa(threads), strconv.Itoa(c.Budget), tools.c}
	missing := "not installed; set HALFTONE_BENCH_PYTHON to a Python that has torch and numpy"
	switch {
	case peer.Name == "c" && tools.c == "":
		return nil, "not installed: no gcc"
	case peer.Go && tools.noGo != "":
		return nil, "not installed: " + tools.noGo
	case peer.Go:
		argv, missing = []string{filepath.Join(dir, goPeers), peer.Name, strconv.Itoa(c.Budget)}, "not installed: it does not start"
	}
	p, err := begin(ctx, threads, "", argv...)
	if err != nil {
		return nil, "not installed: " + err.Error()
	}
	t, err := p.read()
	if err != nil || t.Error != "" {
		p.stop()
		return nil, missing
	}
	return p, t.Version
}

// built is what peers need of what was compiled.
type built struct {
	c    string // the library of C loops, or ""
	noGo string // why there are no Go peers, or ""
}

// goPeers is the name of their program.
const goPeers = "gopeers"

// buildGoPeers compiles the Go peers, with the vector instructions that GoMLX uses where the Go command offers them, and says why it cannot.
func (c *Compare) buildGoPeers(ctx context.Context, dir string) string {
	var first []byte
	for _, experiment := range []string{"simd", ""} {
		build := exec.CommandContext(ctx, c.Go, "build", "-mod=readonly", "-o", filepath.Join(dir, goPeers), "./peer")
		build.Dir = filepath.Join(c.Checkout, "kernelext", "tools", "gopeers")
		build.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=", "GOEXPERIMENT="+experiment)
		out, err := build.CombinedOutput()
		if err == nil {
			return ""
		}
		if first == nil {
			first = append(out, err.Error()...)
		}
	}
	line, _, _ := strings.Cut(strings.TrimSpace(string(first)), "\n")
	return line
}

// compileC returns the path of the C loops as a library, or "" without a compiler.
func compileC(ctx context.Context, dir string) string {
	src, lib := filepath.Join(dir, "convert.c"), filepath.Join(dir, "convert.so")
	if os.WriteFile(src, []byte(convertC), 0o600) != nil {
		return ""
	}
	if exec.CommandContext(ctx, "gcc", "-O3", "-march=native", "-shared", "-fPIC", "-pthread", "-o", lib, src).Run() != nil {
		return ""
	}
	return lib
}

// A contender is a process that answers names with times.
type contender struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
}

type timing struct {
	Median, Min, Wall, CPU, RSS, Held float64 // Wall is the mean of what CPU is processor time of
	Error, Version                    string
}

func (c *contender) read() (timing, error) {
	var t timing
	if !c.out.Scan() {
		return t, errors.New("ended early")
	}
	return t, json.Unmarshal(c.out.Bytes(), &t)
}

func (c *contender) ask(name string) (timing, error) {
	late := time.AfterFunc(patience, func() { _ = c.cmd.Process.Kill() })
	defer late.Stop()
	if _, err := fmt.Fprintln(c.in, name); err != nil {
		return timing{}, err
	}
	return c.read()
}

func (c *contender) stop() {
	_ = c.in.Close()
	_ = c.cmd.Wait()
}

// begin starts a contender without the variables that make OpenBLAS choose kernels for another processor.
func begin(ctx context.Context, threads int, extra string, argv ...string) (*contender, error) {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	n := strconv.Itoa(threads)
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); name != "OPENBLAS_CORETYPE" && name != "OPENBLAS_L2_SIZE" {
			cmd.Env = append(cmd.Env, v)
		}
	}
	// glibc's allocator returns what a call frees to the system or keeps it, depending on what lies beside it: which case of a process came
	// first would decide whether PyTorch pays for page faults at every call. It keeps what it has, as ours does, until the case ends.
	cmd.Env = append(cmd.Env, "MALLOC_MMAP_THRESHOLD_=33554432", "MALLOC_TRIM_THRESHOLD_=1073741824")
	if filepath.Base(argv[0]) == goPeers {
		cmd.Env = append(cmd.Env, "GOMAXPROCS="+n)
	}
	cmd.Env = append(cmd.Env, "HALFTONE_THREADS="+n, "OMP_NUM_THREADS="+n, "OPENBLAS_NUM_THREADS="+n, "MKL_NUM_THREADS="+n)
	if extra != "" {
		cmd.Env = append(cmd.Env, extra)
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	return &contender{cmd: cmd, in: in, out: bufio.NewScanner(out)}, cmd.Start()
}
