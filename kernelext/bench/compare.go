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
	"slices"
	"strconv"
	"strings"
)

//go:embed peers.py
var peersPy string

//go:embed peer/convert.c
var convertC string

// A Compare times the CPU backend and its peers in turns, each in its own process, so that what slows the machine down for a while
// slows down all of them.
type Compare struct {
	Go, Python, Checkout string
	Rounds               int
	Budget               int   // milliseconds per case, contender and round
	Threads              []int // of every process; 0 is all processors
	Cases                []CPUCase
	Report               func(done, all int)
}

// A CPUCase is a line of the table.
type CPUCase struct {
	Name  string  // what worker and peers.py take
	Bar   float64 // the ratio it should reach
	Flops float64 // of a call, or 0
	Bytes float64 // moved by a call, or 0
	Env   string  // a variable of our process, NAME=value, that makes this a case of its own
	Limit string  // what is known to limit the ratio, said where the bar is missed
}

// title is the name of the case in the table.
func (c CPUCase) title() string {
	if c.Env == "" {
		return c.Name
	}
	return c.Name + " " + c.Env
}

// A CPURow is a case with a number of threads, measured.
type CPURow struct {
	CPUCase
	Threads int
	Ours    float64            // median over the rounds, ns
	Peers   map[string]float64 // the same of those that can do it
	Ratio   float64            // median over the rounds of: the fastest peer's time divided by ours
	CPU     float64            // as Ratio, of processor time
	RSS     float64            // MiB at most resident in our process during the case
	PeerRSS map[string]float64 // the same of the peers
	Held    float64            // MiB of activations of a training step
}

// Peers are the contenders beside ours, in the order of the table.
var Peers = []string{"torch", "numpy", "c"}

// A contender is a process that answers names with times.
type contender struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
}

type timing struct {
	Median, Min, CPU, RSS, Held float64
	Error, Version              string
}

func (c *contender) read() (timing, error) {
	var t timing
	if !c.out.Scan() {
		return t, errors.New("ended early")
	}
	return t, json.Unmarshal(c.out.Bytes(), &t)
}

func (c *contender) ask(name string) (timing, error) {
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

// Run measures all cases. The second result says of every peer which version it is, or that it is not installed.
func (c *Compare) Run(ctx context.Context) ([]CPURow, map[string]string, error) {
	dir, err := os.MkdirTemp("", "halftone-bench")
	if err != nil {
		return nil, nil, err
	}
	defer os.RemoveAll(dir)
	build := exec.CommandContext(ctx, c.Go, "build", "-o", filepath.Join(dir, "worker"), "./kernelext/bench/worker")
	build.Dir = c.Checkout
	if out, err := build.CombinedOutput(); err != nil {
		return nil, nil, fmt.Errorf("building the benchmark: %w\n%s", err, out)
	}
	library := compileC(ctx, dir)
	versions := map[string]string{}
	var rows []CPURow
	for i, threads := range c.Threads {
		more, err := c.threads(ctx, dir, library, threads, versions, i)
		if err != nil {
			return nil, nil, err
		}
		rows = append(rows, more...)
	}
	return rows, versions, nil
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

// threads measures all cases with one number of threads.
func (c *Compare) threads(ctx context.Context, dir, library string, threads int, versions map[string]string, pass int) ([]CPURow, error) {
	budget := strconv.Itoa(c.Budget)
	ours := map[string]*contender{}
	for _, k := range c.Cases {
		if ours[k.Env] != nil {
			continue
		}
		p, err := begin(ctx, threads, k.Env, filepath.Join(dir, "worker"), budget)
		if err != nil {
			return nil, err
		}
		defer p.stop()
		ours[k.Env] = p
	}
	peers := map[string]*contender{}
	for _, name := range Peers {
		if name == "c" && library == "" {
			versions[name] = "not installed: no gcc"
			continue
		}
		p, err := begin(ctx, threads, "", c.Python, "-c", peersPy, name, strconv.Itoa(threads), budget, library)
		if err != nil {
			versions[name] = "not installed: " + err.Error()
			continue
		}
		defer p.stop()
		t, err := p.read()
		if err != nil || t.Error != "" {
			versions[name] = "not installed; set HALFTONE_BENCH_PYTHON to a Python that has torch and numpy"
			continue
		}
		versions[name], peers[name] = t.Version, p
	}
	var rows []CPURow
	for i, k := range c.Cases {
		r, err := c.measure(k, threads, ours[k.Env], peers)
		if err != nil {
			return nil, err
		}
		rows = append(rows, r)
		if c.Report != nil {
			c.Report(pass*len(c.Cases)+i+1, len(c.Threads)*len(c.Cases))
		}
	}
	return rows, nil
}

// measure lets all contenders that know a case take turns at it. Sides change places from round to round.
func (c *Compare) measure(k CPUCase, threads int, ours *contender, peers map[string]*contender) (CPURow, error) {
	row := CPURow{CPUCase: k, Threads: threads, Peers: map[string]float64{}, PeerRSS: map[string]float64{}}
	samples, ratios, work := map[string][]float64{}, []float64(nil), []float64(nil)
	for round := range c.Rounds {
		order := append([]string{""}, Peers...)
		if round%2 == 1 {
			slices.Reverse(order)
		}
		var mine, best timing
		for _, name := range order {
			who := ours
			if name != "" {
				who = peers[name]
			}
			if who == nil || name != "" && k.Env != "" { // another form of ours stands beside our usual one only
				continue
			}
			t, err := who.ask(k.Name)
			if err != nil {
				return row, fmt.Errorf("%s in %q: %w", k.Name, name, err)
			}
			if t.Error != "" {
				continue
			}
			samples[name] = append(samples[name], t.Median)
			if name == "" {
				mine, row.RSS, row.Held = t, t.RSS, t.Held
				continue
			}
			row.PeerRSS[name] = t.RSS
			if best.Median == 0 || t.Median < best.Median {
				best = t
			}
		}
		if mine.Median > 0 && best.Median > 0 {
			ratios = append(ratios, best.Median/mine.Median)
		}
		if mine.CPU > 0 && best.CPU > 0 {
			work = append(work, best.CPU/mine.CPU)
		}
	}
	for name, s := range samples {
		if name == "" {
			row.Ours = middle(s)
			continue
		}
		row.Peers[name] = middle(s)
	}
	row.Ratio, row.CPU = middle(ratios), middle(work)
	return row, nil
}

// middle returns the median, 0 of nothing.
func middle(s []float64) float64 {
	if len(s) == 0 {
		return 0
	}
	s = slices.Sorted(slices.Values(s))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}
