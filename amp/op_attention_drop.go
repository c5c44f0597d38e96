package amp

import "github.com/halftone-ml/halftone/amp/internal/cpu"

// A dropper draws dropout's factors for a row of weights, each time they are wanted: none are kept.
type dropper struct {
	numbers [keyBlock + 4]uint32
}

// dropRow multiplies x, which query i has for the keys from j on, by dropout's factors.
func (w *attender[T]) dropRow(i, j int, x []T) {
	first := (w.n*w.T+w.first+i)*w.S + j
	skip := first % 4 // numbers of the first block that belong to keys before
	cpu.Philox(w.numbers[:skip+len(x)], w.drop.Seed, w.drop.Block+uint64(first/4))
	numbers := w.numbers[skip : skip+len(x)]
	if row, ok := any(x).([]float32); ok {
		d := cpu.Dropping{Bound: w.drop.bound, Factor: [2]float32{0, float32(w.drop.scale)}}
		cpu.Drop(row, row, numbers, &d)
		return
	}
	factor := [2]T{0, T(w.drop.scale)}
	for at, number := range numbers {
		k := 0
		if uint64(number) >= w.drop.bound {
			k = 1
		}
		x[at] *= factor[k]
	}
}

// dropRows is dropRow for the queries from r on, each row as far as its query sees m keys from j on.
func (w *attender[T]) dropRows(r, rows, j, m int, x []T) {
	if w.drop == nil {
		return
	}
	for i := r; i < r+rows; i++ {
		w.dropRow(i, j, x[i*w.ld:][:w.visible(i, j, m)])
	}
}
