package cudart

import (
	"testing"
	"unsafe"

	"github.com/halftone-ml/halftone/cudart/driver"
)

// TestListsFit: what a launch on a list of tensors is given fits its parameters.
func TestListsFit(t *testing.T) {
	for name, n := range map[string]uintptr{
		"updateArgs": unsafe.Sizeof(updateArgs{}), "unscaleArgs": unsafe.Sizeof(unscaleArgs{}), "copyArgs": unsafe.Sizeof(copyArgs{}), "clipArgs": unsafe.Sizeof(clipArgs{}),
	} {
		if n >= driver.MaxParamBytes {
			t.Errorf("%s has %d bytes, and a launch takes less than %d", name, n, driver.MaxParamBytes)
		}
	}
}
