package cudart_test

import (
	"math/rand/v2"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/cudart"
	"github.com/halftone-ml/halftone/cudart/driver"
)

// ofWarpgroups are threads and shared memory of the launches of products by warpgroups.
var ofWarpgroups = [2]uint32{256, 4*49152 + 1024}

// TestProductsOfWarpgroups compares products of halves by warpgroups with exact sums, bit for bit: all layouts and both types, sizes that tiles cut in
// every way, fewer terms than the stages hold and more, operands with gaps, split sums, batches.
func TestProductsOfWarpgroups(t *testing.T) {
	device := gpu(t)
	if c := cudart.CapabilityOf(device); c != 90 {
		t.Skipf("the device has capability %d.%d, and these kernels are for 9.0 alone", c/10, c%10)
	}
	defer cudart.UseBLAS(cudart.UseBLAS(false))
	defer cudart.FewTiles(1)()
	watch := &launchWatch{seen: map[[2]uint32]int{}}
	defer cudart.WrapDriver(device, func(drv driver.Driver) driver.Driver { watch.Driver = drv; return watch })()
	r := rand.New(rand.NewPCG(3, 9))
	sizes := [][4]int{
		{1, 128, 256, 128}, {1, 128, 256, 64}, {1, 65, 136, 16}, {1, 130, 264, 40}, {2, 131, 256, 200}, {1, 72, 160, 1096}, {2, 72, 136, 8}, {1, 136, 264, 31}, {1, 257, 144, 97},
		{1, 136, 264, 584},
	}
	for i, c := range sizes {
		for turn := range 4 {
			for j, dt := range []amp.DType{amp.Float16, amp.BFloat16} {
				if (i+turn+j)%2 == 0 || c[3] <= 200 { // long sums in every other pair
					exactProduct(t, device, r, dt, c[0], c[1], c[2], c[3], turn&1 != 0, turn&2 != 0)
				}
			}
		}
	}
	if n := watch.seen[ofWarpgroups]; n < 2*4*len(sizes) {
		t.Errorf("%d products of warpgroups; threads and shared memory of the launches: %v", n, watch.seen)
	}
}

// TestWarpgroupsWhere: these kernels are for devices of capability 9.0 alone, and for products of many tiles.
func TestWarpgroupsWhere(t *testing.T) {
	device := gpu(t)
	defer cudart.UseBLAS(cudart.UseBLAS(false))
	hopper := cudart.CapabilityOf(device) == 90
	for _, c := range []struct {
		use   bool
		tiles int // a product must have
		want  bool
	}{{true, 1, hopper}, {true, 2, hopper}, {true, 3, false}, {false, 1, false}} {
		restoreTiles, restoreUse := cudart.FewTiles(c.tiles), cudart.UseWarpgroups(c.use)
		watch := &launchWatch{seen: map[[2]uint32]int{}}
		restore := cudart.WrapDriver(device, func(drv driver.Driver) driver.Driver { watch.Driver = drv; return watch })
		exactProduct(t, device, rand.New(rand.NewPCG(4, 9)), amp.Float16, 1, 128, 512, 64, false, true)
		restore()
		restoreUse()
		restoreTiles()
		if got := watch.seen[ofWarpgroups] > 0; got != c.want {
			t.Errorf("%+v, capability %d: %v", c, cudart.CapabilityOf(device), watch.seen)
		}
	}
}
