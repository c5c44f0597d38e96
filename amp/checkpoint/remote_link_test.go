package checkpoint_test

import _ "github.com/halftone-ml/halftone/amp/internal/remote" // the device "remote", for every test of the package
