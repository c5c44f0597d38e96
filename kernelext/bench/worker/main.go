// Command worker times the CPU backend for package bench. It reads names of cases from standard input, one a line, and answers each
// with the median and the fastest time of one call, and its processor time, in nanoseconds. Its twin is ../peers.py.
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

	"github.com/halftone-ml/halftone/amp"
)

// An answer is the result of one request.
type answer struct {
	Median float64 `json:"median"` // ns per call
	Min    float64 `json:"min"`
	Wall   float64 `json:"wall"` // the mean
	CPU    float64 `json:"cpu"`  // ns of processor time per call, of all threads: what others on the machine take does not count
	RSS    float64 `json:"rss"`  // MiB at most resident during this case
	Held   float64 `json:"held"` // MiB of activations of a training step
	Error  string  `json:"error,omitempty"`
}

func main() {
	budget := 60 * time.Millisecond
	if len(os.Args) > 1 {
		if ms, err := strconv.Atoi(os.Args[1]); err == nil {
			budget = time.Duration(ms) * time.Millisecond
		}
	}
	var name string
	var run func()
	var root *amp.Scope
	out := json.NewEncoder(os.Stdout)
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		if in.Text() != name {
			if root != nil {
				root.Close()
			}
			name, root, held = in.Text(), amp.NewScope(amp.Seed(1)), 0
			calls = 1
			forgetPeak()
			run = build(root, name)
		}
		a := answer{Error: "no such case"}
		if run != nil {
			a = measure(run, budget)
			a.Held = float64(max(held, 0)) / (1 << 20)
		}
		if err := out.Encode(a); err != nil {
			return
		}
	}
}

// measure calls run until the budget is spent, at least three times, long calls once, after one call to warm up; short calls are timed together.
func measure(run func(), budget time.Duration) answer {
	began := time.Now()
	run()
	once := time.Since(began)
	batch := max(1, int(200*time.Microsecond/max(once, 1)))
	var all []float64
	used := cpuTime()
	least := 3
	if once > 4*budget { // a training step: the rounds give enough
		least = 1
	}
	wall := 0.0
	for began = time.Now(); len(all) < least || time.Since(began) < budget; {
		t := time.Now()
		for range batch {
			run()
		}
		took := float64(time.Since(t))
		all = append(all, took/float64(batch*calls))
		wall += took
	}
	used = cpuTime() - used
	n := float64(len(all) * batch * calls)
	slices.Sort(all)
	return answer{Median: all[len(all)/2], Min: all[0], Wall: wall / n, CPU: float64(used) / n, RSS: peak()}
}

// cpuTime is what this process has used so far.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// forgetPeak lets the system count the peak of resident memory anew, where it can; what is free goes back to it first.
func forgetPeak() {
	debug.FreeOSMemory()
	_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0)
}

// peak returns the largest resident size of this process in MiB, where the system tells.
func peak() float64 {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(text), "VmHWM:")
	var kib float64
	fmt.Sscan(rest, &kib)
	return kib / 1024
}
