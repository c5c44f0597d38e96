package cudart_test

import _ "github.com/halftone-ml/halftone/cudart/emulator" // for HALFTONE_CUDA=emulator
