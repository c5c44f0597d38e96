package cudart

import (
	"os"
	"sync/atomic"
)

// Products by warpgroups (kernels/gemm_wgmma.cu), for devices of capability 9.0. No GPU has run these kernels yet, only the emulator: until one
// has, they compute nothing unless they are asked for.

// WGMMAEnv names the variable that has large products of halves, where they are not cuBLAS's, computed by warpgroups on devices of capability
// 9.0 if it is "1". The kernels are an experiment, and this will go.
const WGMMAEnv = "HALFTONE_CUDA_WGMMA"

var allowWGMMA = func() *atomic.Bool {
	on := new(atomic.Bool)
	on.Store(os.Getenv(WGMMAEnv) == "1")
	return on
}()

// warpgroupBlock is alone on a multiprocessor, with four stages that begin at a multiple of 1024 bytes.
var warpgroupBlock = mmaBlock{rows: 128, columns: 256, k: 64, align: 1024}

const warpgroupStages = 4

// byWarpgroups says whether warpgroups compute the product that lay has written, rather than warps.
func (l *launcher) byWarpgroups(batches int) bool {
	g, b := &l.gemmArgs, warpgroupBlock
	return allowWGMMA.Load() && l.d.props.Capability() == 90 && b.shared(warpgroupStages) <= l.d.props.SharedPerBlockOptin &&
		g.m > 64 && g.n > 128 && b.tiles(g.m, g.n)*batches >= wideTiles
}
