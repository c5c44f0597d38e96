package cudart_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/cudart"
	"github.com/halftone-ml/halftone/cudart/driver"
)

// A launchWatch counts launches by the threads of a block and its dynamic shared memory.
type launchWatch struct {
	driver.Driver
	seen map[[2]uint32]int
}

func (w *launchWatch) Launch(f driver.Function, grid, block [3]uint32, shared uint32, s driver.Stream, a *driver.Args) error {
	w.seen[[2]uint32{block[0], shared}]++
	return w.Driver.Launch(f, grid, block, shared, s, a)
}

// wholes are small whole numbers, so that sums of hundreds of their products are exact in every order and dtype.
func wholes(r *rand.Rand, n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = float64(r.IntN(3) - 1)
	}
	return v
}

// TestProductsOnTensorCores compares products of halves with exact sums, bit for bit: sizes that tiles cut in every way, fewer terms than the
// stages hold, operands in both orders, with gaps, broadcast and at odd places, split sums, in blocks and stages of every device.
func TestProductsOnTensorCores(t *testing.T) {
	device := gpu(t)
	defer cudart.UseBLAS(cudart.UseBLAS(false))
	defer cudart.UseWarpgroups(false)()
	for which, d := range []struct {
		room, wide int
		launch     [2]uint32 // threads and shared memory of a product without a fault in its layout
	}{
		{101376, 1, [2]uint32{128, 3 * 16384}}, {166912, 1, [2]uint32{256, 3 * 49152}}, {166912, 96, [2]uint32{128, 4 * 16384}}, {232448, 1, [2]uint32{256, 4 * 49152}},
	} {
		t.Run(fmt.Sprint(d.launch), func(t *testing.T) {
			if most := cudart.SharedOf(device); d.room > most {
				t.Skipf("a block of this device may have %d bytes of shared memory", most)
			}
			defer cudart.SetShared(device, d.room)()
			defer cudart.FewTiles(d.wide)()
			watch := &launchWatch{seen: map[[2]uint32]int{}}
			defer cudart.WrapDriver(device, func(drv driver.Driver) driver.Driver { watch.Driver = drv; return watch })()
			r := rand.New(rand.NewPCG(1, uint64(d.room+d.wide)))
			for i, c := range [][4]int{
				{1, 128, 256, 128}, {1, 16, 136, 16}, {1, 130, 264, 40}, {2, 131, 256, 200}, {1, 64, 136, 264}, {1, 40, 160, 1096}, {1, 1, 264, 48}, {2, 72, 136, 8},
				{1, 136, 264, 31}, {1, 257, 72, 97},
			} {
				turn := (i + which) % 4 // another of the four layouts for each size and device
				dt := []amp.DType{amp.Float16, amp.BFloat16}[i/2%2]
				exactProduct(t, device, r, dt, c[0], c[1], c[2], c[3], turn&1 != 0, turn&2 != 0)
				exactProduct(t, device, r, dt, c[0], c[2], c[1], c[3], turn&1 != 0, turn&2 != 0)
			}
			for turn, k := range []int{584, 512, 640, 584} { // round and round the stages
				exactProduct(t, device, r, amp.Float16, 1, 264, 136, k, turn&1 != 0, turn&2 != 0)
			}
			if watch.seen[d.launch] < 7 {
				t.Errorf("threads and shared memory of the launches: %v", watch.seen)
			}
		})
	}
}

// TestProductsOfFloat32: the same of float32, in blocks of both sizes.
func TestProductsOfFloat32(t *testing.T) {
	device := gpu(t)
	defer cudart.UseBLAS(cudart.UseBLAS(false))
	for _, tiles := range []int{1, 128} {
		defer cudart.FewTiles(tiles)()
		r := rand.New(rand.NewPCG(2, uint64(tiles)))
		for _, c := range [][4]int{{1, 128, 128, 32}, {2, 67, 136, 20}, {1, 140, 72, 31}, {3, 5, 8, 4}, {1, 64, 64, 1088}, {1, 129, 131, 18}, {1, 1, 260, 7}} {
			for turn := range 4 {
				exactProduct(t, device, r, amp.Float32, c[0], c[1], c[2], c[3], turn&1 != 0, turn&2 != 0)
			}
		}
	}
}

// exactProduct multiplies [batch m k] with [batch k n], which lie the other way round if turned, as parts of rows with gaps.
func exactProduct(t *testing.T, device string, r *rand.Rand, dt amp.DType, batch, m, n, k int, turnA, turnB bool) {
	t.Helper()
	s := amp.NewScope(amp.On(device)).NoGrad()
	defer s.Close()
	operand := func(rows, columns int, turn bool) (*amp.Tensor, []float64) {
		v := wholes(r, batch*rows*columns)
		high, wide := rows, columns
		if turn {
			high, wide = columns, rows
		}
		first, gap := 8, 8+(8-wide%8)%8 // rows begin at a multiple of 16 bytes, and so does their part
		all := make([]float64, batch*high*(wide+gap))
		for i := range all {
			all[i] = 7 // is in no result
		}
		for b := range batch {
			for i := range rows {
				for j := range columns {
					y, x := i, j
					if turn {
						y, x = j, i
					}
					all[(b*high+y)*(wide+gap)+x+first] = v[(b*rows+i)*columns+j]
				}
			}
		}
		x := amp.Narrow(s, placed(s, dt, all, batch, high, wide+gap), 2, first, wide)
		if turn {
			x = amp.Transpose(s, x, 1, 2)
		}
		return x, v
	}
	a, av := operand(m, k, turnA)
	b, bv := operand(k, n, turnB)
	xv := wholes(r, n)
	x := placed(s, dt, xv, 1, 1, n)
	got, again := amp.Baddbmm(s, x, a, b, -1, 2).Float64s(), amp.BMM(s, a, b).Float64s()
	for i := range batch * m * n {
		bi, row, col := i/(m*n), i/n%m, i%n
		want := 0.0
		for j := range k {
			want += av[(bi*m+row)*k+j] * bv[(bi*k+j)*n+col]
		}
		if again[i] != want || got[i] != 2*want-xv[col] {
			t.Fatalf("%v %d × [%d %d]·[%d %d], turned %v %v: element %d is %v and %v, want %v and %v", dt, batch, m, k, k, n, turnA, turnB, i, again[i], got[i], want, 2*want-xv[col])
		}
	}
}
