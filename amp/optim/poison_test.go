package optim_test

import _ "github.com/halftone-ml/halftone/amp/internal/poison"
