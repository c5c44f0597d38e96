package install

import (
	"fmt"
	"strings"

	"github.com/halftone-ml/halftone/cudart/libraries"
)

// gpuParts are the rows about NVIDIA's libraries. Without a driver there is one row, which is no complaint: programs run on the CPU.
func gpuParts(libs []libraries.Library) []Part {
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
