//go:build linux && (amd64 || arm64)

package emulator

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/cudart/driver"
)

// An operandLayout is where an operand of halves lies in shared memory: rows or columns of 16 terms. Strides are in halves, as the PTX ISA's table
// of canonical layouts has them, with T = 8; what is there is mixed as by CuTe's Swizzle<bits, 4, 3> of byte addresses.
type operandLayout struct {
	turned         bool
	bits           int // of the swizzle: 0 for none
	leading, steps int // the offsets LBO and SBO
	start          int // in bytes
}

// at is the byte address of a term of a row or column.
func (o operandLayout) at(mn, k int) int {
	w := 1 << o.bits
	var halves int
	switch {
	case !o.turned && o.bits == 0: // ((8,m),(T,2k)):((1T,SBO),(1,LBO))
		halves = mn%8*8 + mn/8*o.steps + k%8 + k/8*o.leading
	case !o.turned: // ((8,m),(T,2k)):((wT,SBO),(1,T))
		halves = mn%8*8*w + mn/8*o.steps + k%8 + k/8*8
	case o.bits == 0: // ((T,1,m),(8,k)):((1,T,SBO),(1T,LBO))
		halves = mn%8 + mn/8*o.steps + k%8*8 + k/8*o.leading
	default: // ((T,w,m),(8,k)):((1,T,LBO),(wT,SBO))
		halves = mn%8 + mn/8%w*8 + mn/(8*w)*o.leading + k%8*8*w + k/8*o.steps
	}
	address := o.start + 2*halves
	return address ^ (address>>7&(w-1))<<4
}

// descriptor is the layout's, by the PTX ISA's table "Matrix Descriptor Format".
func (o operandLayout) descriptor() uint64 {
	encode := func(bytes int) uint64 { return uint64(bytes & 0x3ffff >> 4) }
	return encode(o.start) | encode(2*o.leading)<<16 | encode(2*o.steps)<<32 | map[int]uint64{0: 0, 1: 3, 2: 2, 3: 1}[o.bits]<<62
}

// layoutsOf are those of an operand of n rows or columns: every swizzle, along terms and turned, with gaps.
func layoutsOf(n, start int) (list []operandLayout) {
	for bits := range 4 {
		w := 1 << bits
		list = append(list, operandLayout{false, bits, 8 * n, 64 * w, start}, operandLayout{true, bits, 64 * w * 3, 64 * w * 3 * max(n/8/w, 1), start})
	}
	list[0].leading, list[1].leading, list[1].steps = 8*n+64, 8*n+64, 64
	return append(list, operandLayout{false, 3, 8, 512, start + 64}) // the third 16 terms of 64
}

// TestWarpgroupLayouts multiplies operands that lie in every canonical layout.
func TestWarpgroupLayouts(t *testing.T) {
	d := opened(t)
	const m, n, k, second, words = 64, 256, 16, 65536, 40000
	a, bt := waves(m*k, 0.11), waves(n*k, 0.23)
	ofA, ofB := layoutsOf(m, 1024), layoutsOf(n, second)
	for i := range max(len(ofA), len(ofB)) * 2 {
		la, lb := ofA[i%len(ofA)], ofB[(i+i/len(ofB))%len(ofB)]
		image := make([]uint16, 2*words)
		for j := range image {
			image[j] = 0x7e00 // NaN
		}
		for j, v := range halves(a) {
			image[la.at(j/k, j%k)/2] = v
		}
		for j, v := range halves(bt) {
			image[lb.at(j/k, j%k)/2] = v
		}
		b := newBench(t, d, orders[i%len(orders)])
		p, c := upload(b, image), upload(b, make([]float32, m*n))
		f, err := d.Function(b.module, "wgmma_image")
		b.check(err, d.SetFunctionAttribute(f, driver.FuncDynamicShared, 4*words))
		turns := map[bool]int32{true: 1}[la.turned] | map[bool]int32{true: 2}[lb.turned]
		args := driver.GetArgs("").Ptr(p).Ptr(c).Int32(words).Int64(int64(la.descriptor())).Int64(int64(lb.descriptor())).Int32(turns)
		b.check(d.Launch(f, [3]uint32{1, 1, 1}, [3]uint32{128, 1, 1}, 4*words, b.stream, args))
		for j, got := range download[float32](b, c, m*n) {
			want := 1.0
			for l := range k {
				want += float64(a[j/n*k+l]) * float64(bt[j%n*k+l])
			}
			if !(math.Abs(float64(got)-want) <= 1e-4) {
				t.Fatalf("%+v, %+v: element %d,%d is %g, want %g", la, lb, j/n, j%n, got, want)
			}
		}
	}
}

// TestWarpgroupMistakes: what a device computes wrongly, or not always right, is found.
func TestWarpgroupMistakes(t *testing.T) {
	d := opened(t)
	for mistake, words := range map[int32]string{
		0: "",
		1: "copied without a fence.proxy.async since",
		2: "wgmma without a wgmma.fence",
		3: "wgmma without all warps of the warpgroup",
		4: "a wgmma instruction without all lanes of the warp",
		5: "bits set beside its fields",
		6: "the warps of a warpgroup give wgmma different operands",
		7: "behind the dynamic shared memory of the launch",
		8: "",
		9: "shared memory was written to while a wgmma that reads it was under way",
	} {
		t.Run(fmt.Sprint(mistake), func(t *testing.T) {
			b := newBench(t, d, "")
			y := upload(b, make([]float32, 128))
			b.launch("wgmma_wrong", 1, 128, 10240, driver.GetArgs("").Ptr(upload(b, make([]int32, 4))).Ptr(y).Int32(mistake))
			if words != "" {
				b.fails("wgmma_wrong", words)
				return
			}
			if got := download[float32](b, y, 1)[0]; (got == 0) != (mistake == 0) {
				t.Errorf("the sum is %v", got)
			}
		})
	}
}

// TestModuleOfOneCapability: what is compiled for sm_90a runs on devices of capability 9.0 alone, neither on earlier nor on later ones.
func TestModuleOfOneCapability(t *testing.T) {
	d := opened(t)
	image := strings.Replace(strings.Replace(limitsPTX, "sm_70", "sm_90a", 1), "7.0", "8.0", 1)
	for capability, taken := range map[int]bool{80: false, 89: false, 90: true, 100: false} {
		newBench(t, d, fmt.Sprintf("capability=%d", capability))
		if _, _, err := d.LoadModule([]byte(image), driver.JIT{}); (err == nil) != taken || err != nil && !strings.Contains(err.Error(), "sm_90a") {
			t.Errorf("capability %d: %v", capability, err)
		}
	}
	if err := Control(d, "capability=80"); err != nil {
		t.Fatal(err)
	}
}
