//go:build linux && (amd64 || arm64)

package cudart

import (
	"path/filepath"

	"github.com/halftone-ml/halftone/cudart/driver"
)

// load makes the handle; the context is bound.
func (v *convolvers) load(d *device) {
	path := ""
	if d.emu {
		path = filepath.Join(filepath.Dir(d.drv.Path()), "libcudnn.so.9")
	}
	n, err := driver.NewDNN(d.drv, path)
	if err == nil {
		err = n.SetStream(d.stream)
	}
	if err != nil {
		v.err = err
		return
	}
	v.dnn = n
}
