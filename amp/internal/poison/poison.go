// Package poison makes the tests of a package that imports it run on poisoned memory: what nobody wrote is NaN, and -1 as an integer.
package poison

import (
	"os"
	"strings"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

func init() {
	for _, arg := range os.Args[1:] {
		if strings.HasPrefix(arg, "-test.bench=") { // its time would count
			return
		}
	}
	if os.Getenv("HALFTONE_POISON") == "" {
		cpu.SetPoison(0xff)
	}
}
