package cudart

import "sync/atomic"

// Products of halves by warpgroups (kernels/gemm_wgmma.cu), for devices of capability 9.0: warps alone do not keep their tensor cores busy.

// noWarpgroups leaves all products to warps. Tests and benchmarks set it.
var noWarpgroups atomic.Bool

// warpgroupBlock is alone on a multiprocessor, with four stages that begin at a multiple of 1024 bytes.
var warpgroupBlock = mmaBlock{rows: 128, columns: 256, k: 64, align: 1024, alone: true}

const warpgroupStages = 4

// warpgroupTiles is how many tiles a product must have for warpgroups: on an H200 with 132 multiprocessors warps were faster with 32 tiles, and
// slower with 72. Tests make it smaller.
var warpgroupTiles = 64

// byWarpgroups says whether warpgroups compute the product that lay has written, rather than warps.
func (l *launcher) byWarpgroups(batches int) bool {
	g, b := &l.gemmArgs, warpgroupBlock
	return l.d.props.Capability() == 90 && !noWarpgroups.Load() && b.shared(warpgroupStages) <= l.d.props.SharedPerBlockOptin &&
		g.m > 64 && g.n > 128 && b.tiles(g.m, g.n)*batches >= warpgroupTiles
}
