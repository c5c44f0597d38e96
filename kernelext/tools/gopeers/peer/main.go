// Command peer times a Go peer of the CPU backend, GoMLX's Go backend or gonum, for package bench. It speaks as peers.py does: the first
// line says the version, and every name of a case, one a line, is answered with the median and the fastest time of one call in
// nanoseconds. The first argument is the peer, the second the milliseconds that a case may take; GOMAXPROCS is the number of threads.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// An answer is the result of one request.
type answer struct {
	Median  float64 `json:"median,omitempty"` // ns per call
	Min     float64 `json:"min,omitempty"`
	Wall    float64 `json:"wall,omitempty"` // the mean
	CPU     float64 `json:"cpu,omitempty"`  // ns of processor time per call, of all threads
	RSS     float64 `json:"rss,omitempty"`  // MiB at most resident during this case
	Error   string  `json:"error,omitempty"`
	Version string  `json:"version,omitempty"`
}

// A builder prepares a case; nil if the peer has no such thing.
type builder func(part []string) (func(), error)

var peers = map[string]struct {
	module string
	build  builder
}{
	"gomlx": {"github.com/gomlx/gomlx", gomlx},
	"gonum": {"gonum.org/v1/gonum", gonum},
}

func main() {
	out := json.NewEncoder(os.Stdout)
	os.Stdout = os.Stderr // what libraries print is no answer
	if len(os.Args) != 3 || peers[os.Args[1]].build == nil {
		_ = out.Encode(answer{Error: "the arguments are gomlx or gonum, and milliseconds"})
		return
	}
	peer := peers[os.Args[1]]
	ms, err := strconv.Atoi(os.Args[2])
	if err != nil {
		_ = out.Encode(answer{Error: err.Error()})
		return
	}
	if out.Encode(answer{Version: version(peer.module)}) != nil {
		return
	}
	var name string
	var run func()
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		var err error
		if in.Text() != name {
			name, run = in.Text(), nil
			debug.FreeOSMemory()
			_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0)
			run, err = guarded(func() (func(), error) { return peer.build(strings.Split(name, "/")) })
		}
		a := answer{Error: "no such case"}
		if err != nil {
			a.Error = err.Error()
		}
		if run != nil {
			_, err := guarded(func() (func(), error) { a = measure(run, time.Duration(ms)*time.Millisecond); return nil, nil })
			if err != nil {
				a, run = answer{Error: err.Error()}, nil
			}
		}
		if out.Encode(a) != nil {
			return
		}
	}
}

// guarded turns a panic, GoMLX's way to say that its backend lacks something, into an error.
func guarded(f func() (func(), error)) (run func(), err error) {
	defer func() {
		if p := recover(); p != nil {
			run, err = nil, fmt.Errorf("%v", p)
		}
	}()
	return f()
}

// measure calls run until the budget is spent, at least three times after one call to warm up; short calls are timed together.
func measure(run func(), budget time.Duration) answer {
	used := cpuTime()
	began := time.Now()
	run()
	once := time.Since(began)
	if once > 4*budget { // so far behind that more calls would only take time, warm or not
		return answer{Median: float64(once), Min: float64(once), Wall: float64(once), CPU: float64(cpuTime() - used), RSS: peak()}
	}
	batch := max(1, int(200*time.Microsecond/max(once, 1)))
	var all []float64
	used = cpuTime()
	wall := 0.0
	for began = time.Now(); len(all) < 3 || time.Since(began) < budget; {
		t := time.Now()
		for range batch {
			run()
		}
		took := float64(time.Since(t))
		all = append(all, took/float64(batch))
		wall += took
	}
	used = cpuTime() - used
	calls := float64(len(all) * batch)
	slices.Sort(all)
	return answer{Median: all[len(all)/2], Min: all[0], Wall: wall / calls, CPU: float64(used) / calls, RSS: peak()}
}

func cpuTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func peak() float64 {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(text), "VmHWM:")
	var kib float64
	_, _ = fmt.Sscan(rest, &kib)
	return kib / 1024
}

// version is the module's path and version as linked, with what of the build matters to its speed.
func version(module string) string {
	v := "unknown version"
	info, _ := debug.ReadBuildInfo()
	if info == nil {
		return v
	}
	for _, d := range info.Deps {
		if d.Path == module {
			v = d.Version
		}
	}
	for _, s := range info.Settings {
		if s.Key == "GOEXPERIMENT" && s.Value != "" {
			v += ", GOEXPERIMENT=" + s.Value
		}
	}
	return v
}

// numbers are those parts that are numbers.
func numbers(part []string) []int {
	var out []int
	for _, p := range part {
		if n, err := strconv.Atoi(p); err == nil {
			out = append(out, n)
		}
	}
	return out
}

// product returns the sizes of gemm/dtype/m/n/k or gemm/dtype/n.
func product(part []string) (m, n, k int, transposed bool) {
	size := numbers(part[2:])
	if len(size) == 1 {
		size = []int{size[0], size[0], size[0]}
	}
	return size[0], size[1], size[2], part[len(part)-1] == "nt"
}
