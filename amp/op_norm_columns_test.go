package amp

import (
	"math"
	"testing"
)

// TestGroupsOfColumns: on the CPU columns, which eachGroup reads some at a time, give the bits of the same numbers as rows, in views and where many are reduced.
func TestGroupsOfColumns(t *testing.T) {
	computesOnCPU(t)
	root := NewScope(On("cpu"), Seed(5))
	defer root.Close()
	rows := func(dt DType, shape ...int) *Tensor { return To(root, Randn(root, Float32, 0, 1, shape...), dt) }
	for _, dt := range []DType{Float32, BFloat16, Float64} {
		for _, n := range []int{1, 2, 15, 16, 17, 50} {
			for _, many := range []int{1, 7, columnRoom/4 + 1} {
				x := rows(dt, n, many)
				columns := Contiguous(root, Transpose(root, x, 0, 1))
				for name, got := range map[string]*Tensor{
					"columns": Std(root, columns, 0),
					"plane":   Std(root, Reshape(root, columns, many, 1, n), 0, 1),
					"part":    Std(root, Narrow(root, Cat(root, 1, columns, columns), 1, 1, n), 0),
				} {
					want := Std(root, x, 1).Float64s()
					for i, v := range got.Float64s() {
						w := want[i]
						if name == "part" { // begins with the second column
							w = want[(i+1)%n]
						}
						if v != w && !(math.IsNaN(v) && math.IsNaN(w)) {
							t.Fatalf("%s of %v: %d groups of %d: number %d is %v, want %v", name, dt, n, many, i, v, w)
						}
					}
				}
			}
		}
	}
}
