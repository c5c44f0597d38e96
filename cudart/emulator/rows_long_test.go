//go:build long && linux && (amd64 || arm64)

package emulator

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/cudart"
)

func TestOddSourcesLong(t *testing.T) {
	compileOdd(t, "stand-in", standIn(t), func(name string) bool { return odd[name].line == -1 && !oddFew[name] })
}

// TestAmpSuitesLong runs what TestAmpSuites leaves out, and what it runs on the embedded modules.
func TestAmpSuitesLong(t *testing.T) {
	useEmulator(t)
	if _, err := Library(); err != nil {
		t.Fatal(err)
	}
	var list []suite
	for _, s := range suites {
		if s.dir == "amp" || s.dir == "amp/nn" {
			list = append(list, suite{s.dir, slowSuites, neverSuites, 5, false})
		}
		list = append(list, suite{s.dir, s.run, strings.TrimPrefix(s.skip+"|"+onceSuites, "|"), s.least, true})
	}
	runSuites(t, append(list, suite{"cudart", rareSuites, "", 15, true}))
}

// rareSuites are tests of cudart that launch most of the kernels which neither a walk on PTX does nor amp's suites, in less than a minute.
const rareSuites = "ConvolutionsO[fn]|ProductsOfFloat32|(Order|Space|Clips|Scans)OnDevice|AttentionOfAnyWidth|ReadHalves|HealthWaits|NarrowGrid|SumsOfColumns|CastsTell"

// longRows are the walks that take minutes.
var longRows = []rowRun{
	// What a GPU's driver is given, instruction by instruction.
	{name: "PTX", settings: "order=shuffled,seed=8", ptx: true, least: 300, all: true, large: true, short: true},
	{name: "PTX at odd places", settings: "order=reversed,seed=9", ptx: true, least: 300, odd: true},
	// Devices with less shared memory and without tensor cores, and with more: what is chosen by that. The small cases launch the same kernels
	// there (TestSmallCasesLaunchTheSame runs them), so that special numbers and odd places have nothing new to see.
	{name: "capability 7.5", settings: "order=forward,capability=75", least: 80, large: true},
	{name: "capability 9.0", settings: "order=forward,capability=90", least: 80, large: true},
	{name: "checked", settings: "order=shuffled,seed=4", checked: "1", least: 300, all: true, large: true, short: true},
	{name: "sanitized", settings: "order=forward", sanitize: true, least: 300},
	{name: "sanitized at odd places", settings: "order=forward", sanitize: true, least: 300, odd: true},
	{name: "cuDNN sanitized", rows: "/^conv", sanitize: true, least: 15, env: []string{cudart.DNNEnv + "=all"}},
}

// moreRows are minutes each, of what a walk above sees in one order: they run where HALFTONE_TEST_SEED asks for other seeds.
var moreRows = []rowRun{
	{name: "checked, reversed", settings: "order=reversed,seed=5", checked: "1", least: 300, all: true, large: true},
	{name: "checked, forward", settings: "order=forward,seed=6", checked: "1", least: 300, all: true, large: true},
	{name: "checked, another order", settings: "order=shuffled,seed=7", checked: "1", least: 300, all: true, large: true},
}

// TestEveryRowLong walks the table as TestEveryRow does, in more ways.
func TestEveryRowLong(t *testing.T) {
	walkRows(t, longRows)
	if os.Getenv("HALFTONE_TEST_SEED") != "" {
		walkRows(t, moreRows)
	}
}

// TestSmallCasesLaunchTheSame: devices of all kinds run the walk's small cases by the same kernels, and rightly.
func TestSmallCasesLaunchTheSame(t *testing.T) {
	useEmulator(t)
	program := testProgram(t, "amp")
	launched := func(capability string) []string {
		t.Helper()
		return walk(t, program, rowRun{settings: "order=forward,capability=" + capability, least: 300, plain: true})
	}
	want := launched("80")
	if len(want) < 500 {
		t.Errorf("only %d kernels ran", len(want))
	}
	for _, capability := range []string{"75", "90"} {
		if got := launched(capability); !slices.Equal(got, want) {
			t.Errorf("capability %s: %d kernels, and of 80 %d: %v", capability, len(got), len(want), got)
		}
	}
}

// TestWarpgroupsLong: products of warpgroups from their PTX, and on the library that looks at each access.
func TestWarpgroupsLong(t *testing.T) {
	useEmulator(t)
	for name, env := range map[string]string{"PTX": onPTX(t), "checked": CheckedEnv + "=1"} {
		t.Run(name, func(t *testing.T) {
			onNewerDevice(t, "^TestProductsOfWarpgroups$", "order=shuffled,seed=3", "--- PASS: TestProductsOfWarpgroups", env)
		})
	}
}
