package install

import (
	"fmt"
	"strings"

	"github.com/halftone-ml/halftone/cudart/libraries"
)

// gpuParts are the rows about NVIDIA's libraries. Without a driver there is one row, which is no complaint: programs run on the CPU. A mode that
// is set has a row before them, as programs that are started with it use none of them.
func gpuParts(mode string, libs []libraries.Library) []Part {
	var parts []Part
	if mode != "" {
		parts = append(parts, modePart(mode))
	}
	return append(parts, libraryParts(libs)...)
}

// modePart says what the variable means that chooses another driver than the machine's.
func modePart(mode string) Part {
	p := Part{Name: "CUDA mode", Status: OK, Version: libraries.ModeEnv + "=" + mode}
	if mode != libraries.ModeEmulator {
		p.Status, p.Detail, p.Fix = Broken, fmt.Sprintf("programs with it find no GPU: only %q is a mode", libraries.ModeEmulator), "unset "+libraries.ModeEnv
		return p
	}
	p.Detail = "programs that are started with it run cuda:0 on the CPU, slowly, for tests; a GPU of the machine is not used"
	return p
}

// libraryParts are the rows of the libraries.
func libraryParts(libs []libraries.Library) []Part {
	var parts []Part
	for _, l := range libs {
		name := strings.TrimPrefix(l.Name, "lib")
		if l.Required {
			name = "GPU driver"
			if l.Path == "" {
				return []Part{{Name: name, Status: OK, Version: "none: programs run on the CPU", Detail: fmt.Sprintf("no %s in %d places", l.Name, len(l.Tried))}}
			}
		}
		p := Part{Name: name, Status: OK, Path: l.Path}
		if !l.Required {
			p.Version = l.Version()
		}
		if l.Path == "" {
			p.Status, p.Detail, p.Fix = Missing, "on a GPU, there are no "+l.Use+" of NVIDIA's", l.Fix
		}
		parts = append(parts, p)
	}
	return parts
}
