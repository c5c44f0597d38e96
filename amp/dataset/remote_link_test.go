package dataset_test

import (
	"github.com/halftone-ml/halftone/amp/internal/remote"
	_ "github.com/halftone-ml/halftone/cudart/emulator" // for HALFTONE_CUDA=emulator
)

func init() { remote.FromEnv() }
