//go:build linux && (amd64 || arm64)

package emulator

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/cudart"
	"github.com/halftone-ml/halftone/cudart/kernels"
)

// A rowRun is one walk over the table: with settings of the emulator, on the checked library, of rows whose names match, with variables.
type rowRun struct {
	name, settings, checked, rows string
	least                         int // cases that must have run
	sanitize                      bool
	ptx                           bool // the kernels of the embedded modules, not of the .cu
	env                           []string
	all                           bool // integers too, inputs with gaps and special numbers
	large                         bool // the large cases too, alone without all: splits, tiles, tensor cores
	short                         bool // fewer draws of special numbers
	plain                         bool // integers too, and inputs with gaps, nothing else
	far                           bool // instead, inputs whose elements lie 2³¹ elements apart
	odd                           bool // instead, inputs that begin at no multiple of 16 bytes
}

// tests is the expression of what runs.
func (r rowRun) tests() string {
	switch {
	case r.far:
		return "^TestFarApartOnDevice$"
	case r.odd:
		return "^TestEveryOpOnDeviceAtOddPlaces$"
	case r.large && r.all:
		return "^Test(EveryOp|Large)OnDevice"
	case r.large:
		return "^TestLargeOnDevice$"
	case r.plain:
		return "^TestEveryOpOnDevice(OfIntegers|ThroughViews)?$"
	case r.all:
		return "^TestEveryOpOnDevice"
	}
	return "^TestEveryOpOnDevice$" + r.rows
}

// skip is the expression of what of it does not.
func (r rowRun) skip() string {
	switch {
	case r.ptx && !r.odd: // longRows has a walk at odd places of its own
		return "Captured$|AtOddPlaces$"
	case r.checked != "": // nothing new is launched in a graph, and these libraries are slow
		return "Captured$"
	}
	return ""
}

// walkLimit is the longest time of one walk. Alone on two cores the longest, checked and with the large cases, takes half a minute, the
// others three to ten seconds; machines are busy at times. Over it, the program says which row it was at.
const walkLimit = "10m"

// rowRuns are how TestEveryRow walks; with the build tag long TestEveryRowLong walks in more ways.
var rowRuns = []rowRun{
	{name: "forward", settings: "order=forward", least: 300, all: true},
	{name: "reversed", settings: "order=reversed,seed=2", least: 300},
	{name: "shuffled", settings: "order=shuffled,seed=3", least: 300},
	// More memory than the machine has need not be there: hardly any of it is touched.
	{name: "far apart", settings: "order=forward,memory=16G", least: 300, far: true},
	// The others compute these small convolutions with Halftone's kernels.
	{name: "cuDNN", rows: "/^conv", least: 15, env: []string{cudart.DNNEnv + "=all"}},
}

// TestEveryRow walks amp's op table on the emulated device: every case of every row in every dtype, forward and backward, against
// the CPU, with threads and blocks in several orders. No row may run on the host.
func TestEveryRow(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles amp's tests and both libraries")
	}
	walkRows(t, rowRuns)
}

func walkRows(t *testing.T, runs []rowRun) {
	t.Helper()
	useEmulator(t)
	program := testProgram(t, "amp")
	for _, c := range runs {
		t.Run(c.name, func(t *testing.T) {
			launched := walk(t, program, c)
			for _, name := range launched {
				if unit := kernels.Unit(name); c.sanitize && slices.Contains(notSmall, unit) {
					t.Errorf("%s runs without sanitizers: take %s out of notSmall", name, unit)
				}
			}
		})
	}
}

// walk walks once, and returns the names of the kernels that were launched, sorted.
func walk(t *testing.T, program string, c rowRun) (launched []string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "launched")
	cmd := exec.CommandContext(t.Context(), program, "-test.run="+c.tests(), "-test.v", "-test.timeout="+walkLimit)
	cmd.Dir = "../../amp"
	cmd.Env = append(os.Environ(), cudart.ModeEnv+"="+cudart.ModeEmulator, "HALFTONE_COMPARE_DEVICE=cuda:0", "HALFTONE_EMULATOR="+c.settings+",launched="+file,
		CheckedEnv+"="+c.checked)
	if skip := c.skip(); skip != "" {
		cmd.Args = append(cmd.Args, "-test.skip="+skip)
	}
	if c.short {
		cmd.Args = append(cmd.Args, "-test.short")
	}
	cmd.Env = append(cmd.Env, c.env...)
	if c.ptx {
		cmd.Env = append(cmd.Env, onPTX(t))
	}
	if c.sanitize {
		if _, err := Build(t.Context(), Options{Sanitize: true, Unsanitized: notSmall}); err != nil { // before the sanitizer slows the compiler down
			t.Fatal(err)
		}
		cmd.Env = append(cmd.Env, sanitized(t, "small")...)
	}
	out, err := cmd.CombinedOutput()
	text := string(out)
	if err != nil || strings.Contains(text, "emulated device:") || strings.Contains(text, "runtime error:") {
		t.Fatalf("%v\n%s", err, failures(text))
	}
	if n := strings.Count(text, "    --- PASS"); n < c.least {
		t.Errorf("only %d cases ran", n)
	}
	names, err := os.ReadFile(file)
	if err != nil || len(names) == 0 {
		t.Errorf("no kernel ran: %v", err)
	}
	launched = strings.Fields(string(names))
	slices.Sort(launched)
	return launched
}

// onPTX returns the variable that makes a program run the embedded modules. They have been compiled then: it takes minutes, and is no part
// of what the program is timed for.
func onPTX(t *testing.T) string {
	t.Helper()
	if _, err := Build(t.Context(), Options{PTX: true}); err != nil {
		t.Fatal(err)
	}
	return PTXEnv + "=1"
}

// failures keeps of a test's output what is worth reading.
func failures(out string) string {
	var b strings.Builder
	for line := range strings.Lines(out) {
		if !strings.Contains(line, "=== RUN") && !strings.Contains(line, "--- PASS") {
			b.WriteString(line)
		}
	}
	return b.String()
}
