package cudart_test

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/cudart"
	"github.com/halftone-ml/halftone/cudart/driver"
)

// ofWarpgroups are threads and shared memory of the launches of products by warpgroups.
var ofWarpgroups = [2]uint32{256, 4*49152 + 1024}

// aloneEnv is set in the process of a test that no other is to share a device with.
const aloneEnv = "HALFTONE_TEST_ALONE"

// alone runs the rest of a test in a process of its own where the device is a real one: kernels that no GPU has run might take it from the tests that
// follow. It says whether this process has to go on.
func alone(t *testing.T, device string) bool {
	t.Helper()
	s := amp.NewScope(amp.On(device))
	defer s.Close()
	if strings.Contains(s.Device(), "emulated") || os.Getenv(aloneEnv) != "" {
		return true
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.timeout=3m")
	cmd.Env = append(os.Environ(), aloneEnv+"=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	return false
}

// TestProductsOfWarpgroups compares products of halves by warpgroups with exact sums, bit for bit: all layouts and both types, sizes that tiles cut in
// every way, fewer terms than the stages hold and more, operands with gaps, split sums, batches.
func TestProductsOfWarpgroups(t *testing.T) {
	device := gpu(t)
	if c := cudart.CapabilityOf(device); c != 90 {
		t.Skipf("the device has capability %d.%d, and these kernels are for 9.0 alone", c/10, c%10)
	}
	if !alone(t, device) {
		return
	}
	defer cudart.UseBLAS(cudart.UseBLAS(false))
	defer cudart.FewTiles(1)()
	defer cudart.UseWGMMA(true)()
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

// TestWarpgroupsAreAskedFor: nobody comes to these kernels who has not asked for them, nor on another device than those they are for.
func TestWarpgroupsAreAskedFor(t *testing.T) {
	device := gpu(t)
	if cudart.CapabilityOf(device) == 90 && !alone(t, device) {
		return
	}
	defer cudart.UseBLAS(cudart.UseBLAS(false))
	defer cudart.FewTiles(1)()
	for _, asked := range []bool{false, true} {
		defer cudart.UseWGMMA(asked)()
		watch := &launchWatch{seen: map[[2]uint32]int{}}
		restore := cudart.WrapDriver(device, func(drv driver.Driver) driver.Driver { watch.Driver = drv; return watch })
		exactProduct(t, device, rand.New(rand.NewPCG(4, 9)), amp.Float16, 1, 128, 256, 64, false, true)
		restore()
		want := asked && cudart.CapabilityOf(device) == 90
		if got := watch.seen[ofWarpgroups] > 0; got != want {
			t.Errorf("asked for: %v, capability %d: %v", asked, cudart.CapabilityOf(device), watch.seen)
		}
	}
}
