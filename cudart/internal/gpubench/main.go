// Command gpubench measures what cudart/driver costs on the machine's GPU. With -bench it prints one JSON object per figure, as
// peer.py does for PyTorch; with -merge it makes a table of such files. Alone it is the `run` of a GPU bundle (make gpu-bundle): it
// runs the test binaries that are packed beside it, the benchmarks and PyTorch's in turn, and NVIDIA's checker, in stages, and after each
// writes results.md anew, as a section of cudart/RESULTS.md. One that was cut off, or whose time was over, goes on when it is called again
// with the same folder. With HALFTONE_CUDA=emulator it is a rehearsal: small sizes, and no figure is written to the report.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/halftone-ml/halftone/cudart"
	"github.com/halftone-ml/halftone/cudart/driver"
	"github.com/halftone-ml/halftone/cudart/emulator"
	"github.com/halftone-ml/halftone/cudart/internal/turns"
)

// emulated is whether this is a rehearsal.
var emulated = os.Getenv(cudart.ModeEnv) == cudart.ModeEmulator

// openDriver opens NVIDIA's driver, or the emulator's.
func openDriver() (driver.Driver, error) {
	path := ""
	if emulated {
		var err error
		if path, err = emulator.Library(); err != nil {
			return nil, err
		}
	}
	return driver.Open(path)
}

// library is the path for a library of NVIDIA's: "" to look for it, or the emulator's, which has some of each.
func (b *bench) library() string {
	if emulated {
		return b.d.Path()
	}
	return ""
}

// size is n, or what stands in for it in a rehearsal.
func size[T any](n, rehearsed T) T {
	if emulated {
		return rehearsed
	}
	return n
}

// A figure is one measurement: the median of several.
type figure struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Unit  string  `json:"unit"`
	Note  string  `json:"note,omitempty"`
}

type bench struct {
	d     driver.Driver
	dev   driver.Device
	ctx   driver.Context
	st    driver.Stream
	props driver.Properties
	out   *json.Encoder
	turns *turns.Taker
}

func (b *bench) report(name string, v float64, unit, note string) {
	if err := b.out.Encode(figure{name, v, unit, note}); err != nil {
		panic(err)
	}
}

// must ends the part that measures, not the program.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

func get[T any](v T, err error) T {
	must(err)
	return v
}

func main() {
	merge := flag.Bool("merge", false, "make a table of the files given, ours first and the peer's second, and so on")
	start := flag.Bool("start", false, "only start: a context, a module and a launch")
	only := flag.Bool("bench", false, "run the benchmarks of this program, and print their figures")
	train := flag.Bool("steps", false, "time training steps, as steps.py does in PyTorch, and print their figures")
	model := flag.String("model", "", "with -steps: only models whose name has this in it")
	dir := flag.String("o", "results", "folder of the results and logs")
	python := flag.String("python", "python3", "the Python that has PyTorch")
	sanitizer := flag.String("sanitizer", "compute-sanitizer", "NVIDIA's checker, empty for none")
	rounds := flag.Int("rounds", 2, "how often the benchmarks run; the tables hold medians")
	within := flag.Duration("within", 9*time.Minute, "begin nothing that usually takes longer than what is left of this, and end by then; 0: as long as it takes")
	again := flag.String("again", "", "also run stages again whose name has this in it")
	who := flag.Bool("probe", false, "say what the GPU is")
	compile := flag.Bool("compile", false, "have the driver compile all kernels, each by itself, as programs load them")
	share := flag.String("share", "", "with -compile: be one of its processes, \"2/16\"")
	cells := flag.Bool("cells", false, "time processes that take a training step, as notebook cells do")
	cell := flag.Bool("cell", false, "be one of these")
	record := flag.String("record", "", "append the report of -o's folder to this file: cudart/RESULTS.md")
	flag.Parse()
	var err error
	switch {
	case *merge:
		err = table(os.Stdout, flag.Args())
	case *start:
		startOnly()
	case *only:
		err = benchmarks()
	case *train:
		err = steps(*model)
	case *who:
		err = probe()
	case *compile && *share != "":
		err = compileShare(*share)
	case *compile:
		err = compileKernels()
	case *cells:
		err = timeCells()
	case *cell:
		err = beCell()
	case *record != "":
		err = appendReport(*dir, *record)
	default:
		err = runAll(runOptions{*dir, *python, *sanitizer, *again, *rounds, *within})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// notRehearsed are the parts of benchmarks with kernels of the driver's tests.
var notRehearsed = []string{"calls", "graphs", "modules", "nvrtc", "processes"}

func benchmarks() error {
	b := &bench{out: json.NewEncoder(os.Stdout), turns: turns.Begin()}
	var failed []string
	for _, part := range []struct {
		name string
		run  func(*bench)
	}{
		{"open", open}, {"calls", calls}, {"allocation", allocation}, {"copies", copies}, {"graphs", graphs}, {"modules", modules},
		{"nvrtc", compiling}, {"gemm", products}, {"fused gemm", fused}, {"sharing", sharing}, {"processes", processes},
	} {
		if emulated && slices.Contains(notRehearsed, part.name) {
			fmt.Fprintf(os.Stderr, "%s: not rehearsed: the emulator has only Halftone's kernels\n", part.name)
			continue
		}
		began := time.Now()
		if err := attempt(func() { part.run(b) }); err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", part.name, err)
			failed = append(failed, part.name)
			if b.ctx == 0 {
				break
			}
		}
		fmt.Fprintf(os.Stderr, "%-12s %.1f s\n", part.name, time.Since(began).Seconds())
	}
	if len(failed) > 0 {
		return fmt.Errorf("failed: %v", failed)
	}
	return nil
}

func attempt(f func()) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%v", r)
		}
		if err != nil && strings.Contains(err.Error(), driver.ErrLost.Error()) {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(turns.Lost)
		}
	}()
	f()
	return nil
}

// median of what f returns, called n times.
func median(n int, f func() float64) float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = f()
	}
	return middle(v)
}

// host returns the nanoseconds that one of n calls takes, the median of five rounds; each round waits for the device at its end, outside the time.
func (b *bench) host(n int, f func()) float64 {
	n = size(n, 2)
	return median(size(5, 1), func() float64 {
		began := time.Now()
		for range n {
			f()
		}
		t := time.Since(began)
		must(b.d.SyncStream(b.st))
		return float64(t.Nanoseconds()) / float64(n)
	})
}

// device returns the seconds that one call of f takes on the device: the median of rounds, in turn with PyTorch's where a run has both. A
// round takes some 20 ms, after a call that is not counted.
func (b *bench) device(name string, f func()) float64 {
	from, to := get(b.d.NewEvent(true)), get(b.d.NewEvent(true))
	calls := 1
	once := func() float64 {
		f()
		must(b.d.RecordEvent(from, b.st))
		for range calls {
			f()
		}
		must(b.d.RecordEvent(to, b.st))
		must(b.d.SyncEvent(to))
		return get(b.d.Elapsed(from, to)).Seconds() / float64(calls)
	}
	if !emulated {
		once()
		calls = max(1, min(10, int(0.02/once())))
	}
	v := middle(b.turns.Rounds(name, size(turns.Usual, 1), once))
	must(b.d.DestroyEvent(from))
	must(b.d.DestroyEvent(to))
	return v
}

// onDevice reports how many of something, in 10⁹ a second, the device does in calls of amount each.
func (b *bench) onDevice(name string, amount float64, note string, f func()) {
	if b.turns.Behind(name) {
		return
	}
	b.report(name, amount/b.device(name, f)/1e9, "GB/s", note)
}

// open times what a process pays before its first launch.
func open(b *bench) {
	began := time.Now()
	d := get(openDriver())
	b.d = d
	b.report("dlopen and cuInit", ms(began), "ms", d.Path())
	b.dev = get(d.Device(0))
	began = time.Now()
	b.ctx = get(d.RetainContext(b.dev))
	b.report("primary context", ms(began), "ms", "")
	must(d.Bind(b.ctx))
	b.props = get(d.Properties(b.dev))
	v := get(d.Version())
	b.report("driver", float64(v), "", fmt.Sprintf("%s, capability %d.%d, %d multiprocessors, absent functions %v",
		b.props.Name, b.props.Major, b.props.Minor, b.props.Multiprocessors, driver.Absent(d)))
	b.st = get(d.NewStream())
}

func ms(since time.Time) float64 { return float64(time.Since(since).Microseconds()) / 1000 }
