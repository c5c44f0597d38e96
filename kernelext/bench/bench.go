// Package bench measures side by side, in one run, what a reader waits for: the latency of cells in stock GoNB and through
// our kernel, and the time of a training step in each precision.
package bench

import (
	"bufio"
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/halftone-ml/halftone/kernelext/layout"
	"github.com/halftone-ml/halftone/kernelext/wire"
)

//go:embed bench.py
var benchPy string

// A Case is one cell in one kernel. {n} in the code is another number in every round.
type Case struct {
	Name   string `json:"name"`
	Kernel string `json:"kernel"`
	Code   string `json:"code"`

	Fresh   bool `json:"fresh"`   // a new kernel in every round: its first cell
	Rounds  int  `json:"rounds"`  // at most; 0 means all
	Updates int  `json:"updates"` // updates of displays that have to arrive
	Bytes   int  `json:"bytes"`   // characters of output that have to arrive
}

// The kernels beside ours: GoNB as its own installer sets it up, and with the environment that ours gives it, so that the
// difference is what the proxy costs.
const (
	stock     = "stock-gonb"
	stockLike = "stock-gonb-same-flags"
)

const trivial = "%%\nfmt.Println({n})"

// trains makes a training step under autocast and shows a figure.
const trains = `%%
s := amp.NewScope(amp.Seed({n}), amp.Record(amp.Decisions))
defer s.Close()
x, y := amp.Randn(s, amp.Float32, 0, 1, 20, 10), amp.Randn(s, amp.Float32, 0, 1, 20, 1)
net := nn.NewLinear(s, 10, 1)
opt, scaler := optim.NewSGD(net.Parameters(), optim.LR(0.1)), amp.NewGradScaler()
half := s.Autocast(amp.Float16)
loss := nn.MSELoss(half, net.Forward(half.In("net"), x), y)
scaler.Scale(s, loss).Backward()
scaler.Step(opt)
scaler.Update()
widgets.Show(widgets.Decisions(s.Trace()))`

const imports = `import (
	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/nn"
	"github.com/halftone-ml/halftone/amp/optim"
	"github.com/halftone-ml/halftone/widgets"
)

`

const updates = `import "github.com/janpfeifer/gonb/gonbui"

%%
id := gonbui.UniqueId()
for i := range 1000 {
	gonbui.UpdateHTML(id, fmt.Sprint({n}, i))
}
gonbui.Sync()`

// prints is what reaches a page at once; more is paced, since neither it nor the notebook server bears it.
const prints = `%%
line := strings.Repeat("{n}", 1000)[:999]
for range 500 {
	fmt.Println(line)
}`

// Cases are the cells that are measured.
var Cases = []Case{
	{Name: "trivial cell, stock GoNB", Kernel: stock, Code: trivial},
	{Name: "trivial cell, stock GoNB, same flags", Kernel: stockLike, Code: trivial},
	{Name: "trivial cell", Kernel: layout.KernelName, Code: trivial},
	{Name: "a training step and its figure", Kernel: layout.KernelName, Code: trains},
	{Name: "the same with import lines", Kernel: layout.KernelName, Code: imports + trains},
	{Name: "the same as the first cell of a kernel", Kernel: layout.KernelName, Code: trains, Fresh: true, Rounds: 5},
	{Name: "1,000 updates of a display, stock GoNB", Kernel: stockLike, Code: updates, Rounds: 3, Updates: 1000},
	{Name: "1,000 updates of a display", Kernel: layout.KernelName, Code: updates, Rounds: 3, Updates: 1000},
	{Name: "500 KB of output, stock GoNB", Kernel: stock, Code: prints, Rounds: 3, Bytes: 500_000},
	{Name: "500 KB of output", Kernel: layout.KernelName, Code: prints, Rounds: 3, Bytes: 500_000},
}

// A Row is one measurement.
type Row struct {
	Name                     string
	Samples                  []time.Duration
	Median, Fastest, Slowest time.Duration
}

func newRow(name string, samples []time.Duration) Row {
	sorted := slices.Sorted(slices.Values(samples))
	return Row{Name: name, Samples: samples, Median: median(sorted), Fastest: sorted[0], Slowest: sorted[len(sorted)-1]}
}

// median of a sorted list.
func median(sorted []time.Duration) time.Duration {
	n := len(sorted)
	if n%2 == 1 {
		return sorted[n/2]
	}
	return (sorted[n/2-1] + sorted[n/2]) / 2
}

// Cells measures the latency of the cases with the installed kernels, taking turns over a number of rounds.
func Cells(ctx context.Context, l layout.Layout, state layout.State, env []string, rounds int, cases []Case, onRound func(int)) ([]Row, error) {
	dir, err := os.MkdirTemp("", "halftone-bench")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	for name, more := range map[string]map[string]string{stock: nil, stockLike: flags(l, state)} {
		if err := stockKernel(dir, name, l, more); err != nil {
			return nil, err
		}
	}
	order, err := json.Marshal(map[string]any{"cases": cases, "rounds": rounds})
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(state.Python, "-", string(order))
	cmd.Stdin = strings.NewReader(benchPy)
	cmd.Env = append(env, "JUPYTER_PATH="+dir+string(os.PathListSeparator)+os.Getenv("JUPYTER_PATH"))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.WaitDelay = 10 * time.Second
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) })
	defer stop()
	var answer struct {
		Round int
		Error string
		Times map[string][]float64
	}
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		if json.Unmarshal(lines.Bytes(), &answer) == nil && answer.Times == nil && answer.Error == "" {
			onRound(answer.Round)
		}
	}
	err = cmd.Wait()
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case answer.Error != "":
		return nil, errors.New(answer.Error)
	case err != nil || len(answer.Times) == 0:
		return nil, fmt.Errorf("the measuring script ended without a result (%v): %s", err, stderr.String())
	}
	var rows []Row
	for _, c := range cases {
		var samples []time.Duration
		for _, s := range answer.Times[c.Name] {
			samples = append(samples, time.Duration(s*float64(time.Second)))
		}
		rows = append(rows, newRow(c.Name, samples))
	}
	return rows, nil
}

// stockKernel makes a kernelspec for GoNB as its own installer would, with no environment but a PATH with its programs, and more.
func stockKernel(dir, name string, l layout.Layout, more map[string]string) error {
	env := map[string]string{"PATH": l.Bin() + string(os.PathListSeparator) + os.Getenv("PATH")}
	maps.Copy(env, more)
	spec, err := json.Marshal(map[string]any{
		"argv": []string{l.GoNB(), "--kernel", "{connection_file}"}, "display_name": "Go (gonb)", "language": "go",
		"interrupt_mode": "message", "env": env,
	})
	if err != nil {
		return err
	}
	at := filepath.Join(dir, "kernels", name)
	if err := os.MkdirAll(at, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(at, "kernel.json"), spec, 0o644)
}

// flags are the variables of our kernel's environment that change how cells are built.
func flags(l layout.Layout, state layout.State) map[string]string {
	out := map[string]string{}
	for _, v := range wire.Env(l, state, os.Environ()) {
		if name, value, _ := strings.Cut(v, "="); strings.HasPrefix(name, "GO") || name == "CGO_ENABLED" {
			out[name] = value
		}
	}
	return out
}

var benchLine = regexp.MustCompile(`^Benchmark(\S*?)(?:-\d+)?\s+\d+\s+([\d.]+) ns/op`)

// Steps runs a Go benchmark of a package several times over, each time all of its sub-benchmarks in turn, and returns a row
// for each of them.
func Steps(ctx context.Context, goCmd, checkout, pkg, name string, count int) ([]Row, error) {
	dir, err := os.MkdirTemp("", "halftone-bench")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	binary := filepath.Join(dir, "bench.test")
	build := exec.CommandContext(ctx, goCmd, "test", "-c", "-vet=off", "-o", binary, pkg)
	build.Dir = checkout
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("building %s: %w\n%s", pkg, err, out)
	}
	var all bytes.Buffer
	for range count {
		cmd := exec.CommandContext(ctx, binary, "-test.run=^$", "-test.bench=^"+name+"$", "-test.benchtime=200ms")
		cmd.Dir = filepath.Join(checkout, filepath.FromSlash(pkg))
		out, err := cmd.CombinedOutput()
		if err != nil {
			return nil, fmt.Errorf("%s in %s: %w\n%s", name, pkg, err, out)
		}
		all.Write(out)
	}
	return parseSteps(&all)
}

func parseSteps(r io.Reader) ([]Row, error) {
	samples := map[string][]time.Duration{}
	var order []string
	for lines := bufio.NewScanner(r); lines.Scan(); {
		m := benchLine.FindStringSubmatch(lines.Text())
		if m == nil {
			continue
		}
		ns, err := strconv.ParseFloat(m[2], 64)
		if err != nil {
			return nil, err
		}
		if samples[m[1]] == nil {
			order = append(order, m[1])
		}
		samples[m[1]] = append(samples[m[1]], time.Duration(ns))
	}
	if len(order) == 0 {
		return nil, errors.New("the benchmark printed no times")
	}
	var rows []Row
	for _, name := range order {
		rows = append(rows, newRow(name, samples[name]))
	}
	return rows, nil
}

// Print writes rows as a table, each also as a multiple of the first.
func Print(w io.Writer, title string, rows []Row) {
	fmt.Fprintf(w, "\n%-42s %10s %10s %10s %8s\n", title, "median", "fastest", "slowest", "ratio")
	for _, r := range rows {
		fmt.Fprintf(w, "%-42s %10s %10s %10s %7.2f×\n", r.Name, show(r.Median), show(r.Fastest), show(r.Slowest), float64(r.Median)/float64(rows[0].Median))
	}
}

func show(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return fmt.Sprintf("%.1f µs", float64(d)/1e3)
	case d < time.Second:
		return fmt.Sprintf("%.1f ms", float64(d)/1e6)
	}
	return fmt.Sprintf("%.2f s", d.Seconds())
}
