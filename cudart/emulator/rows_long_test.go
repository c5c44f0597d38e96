//go:build long && linux && (amd64 || arm64)

package emulator

import (
	"os"

	"github.com/halftone-ml/halftone/cudart"
)

// knownEnv is set by the tests' runner where the tests without the tag long have just passed on the same files.
const knownEnv = "HALFTONE_TEST_KNOWN"

func init() {
	oddFew = nil
	short := suites
	if os.Getenv(knownEnv) != "" {
		suites, rowRuns = nil, nil
	}
	for _, s := range short {
		if s.dir == "amp" || s.dir == "amp/nn" {
			suites = append(suites, suite{s.dir, slowSuites, neverSuites, 5, false})
		}
		suites = append(suites, suite{s.dir, s.run, s.skip, s.least, true})
	}
	rowRuns = append(rowRuns,
		// What a GPU's driver is given, instruction by instruction.
		rowRun{name: "PTX", settings: "order=shuffled,seed=8", ptx: true, least: 300, all: true, large: true},
		rowRun{name: "PTX at odd places", settings: "order=reversed,seed=9", ptx: true, least: 300, odd: true},
		// Devices with less shared memory and without tensor cores, and with more: what is chosen by that.
		rowRun{name: "capability 7.5", settings: "order=forward,capability=75", least: 300, all: true, large: true},
		rowRun{name: "capability 9.0", settings: "order=forward,capability=90", least: 300, all: true, large: true},
		rowRun{name: "checked", settings: "order=shuffled,seed=4", checked: "1", least: 300, all: true, large: true},
		rowRun{name: "sanitized", settings: "order=forward", sanitize: true, least: 300},
		rowRun{name: "sanitized, at odd places", settings: "order=forward", sanitize: true, least: 300, odd: true},
		rowRun{name: "cuDNN sanitized", rows: "/^conv", sanitize: true, least: 15, env: []string{cudart.DNNEnv + "=all"}})
	if os.Getenv("HALFTONE_TEST_SEED") == "" { // minutes each, of what the walk above sees in one order
		return
	}
	rowRuns = append(rowRuns,
		rowRun{name: "checked, reversed", settings: "order=reversed,seed=5", checked: "1", least: 300, all: true, large: true},
		rowRun{name: "checked, forward", settings: "order=forward,seed=6", checked: "1", least: 300, all: true, large: true},
		rowRun{name: "checked, another order", settings: "order=shuffled,seed=7", checked: "1", least: 300, all: true, large: true},
	)
}
