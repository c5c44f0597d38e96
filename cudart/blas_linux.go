//go:build linux && (amd64 || arm64)

package cudart

import (
	"path/filepath"

	"github.com/halftone-ml/halftone/cudart/driver"
)

// load makes the handles; the context is bound.
func (p *products) load(d *device) {
	beside := func(file string) string {
		if d.emu {
			return filepath.Join(filepath.Dir(d.drv.Path()), file)
		}
		return "" // what is found
	}
	b, err := driver.NewBLAS(d.drv, beside("libcublas.so.13"))
	if err != nil {
		p.err = err
		return
	}
	if p.work, p.err = d.pool.get(blasWorkspace, "cuBLAS"); p.err != nil {
		return
	}
	p.blas, p.err = b, b.SetStream(d.stream, p.work.ptr, blasWorkspace)
	// Without it, products with a bias stay with our kernels.
	if lt, err := driver.NewBLASLt(d.drv, beside("libcublasLt.so.13"), p.work.ptr, blasWorkspace); err == nil {
		p.lt = lt
	}
}
