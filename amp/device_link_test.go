package amp_test

import (
	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/cudart"
	_ "github.com/halftone-ml/halftone/cudart/emulator" // for HALFTONE_CUDA=emulator
)

func init() { amp.HostRuns = cudart.Fallbacks }
