package cudart

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/halftone-ml/halftone/amp"
	ptx "github.com/halftone-ml/halftone/cudart/kernels"
)

// commonUnits are those of which nearly every training step has kernels.
var commonUnits = []string{"scaler", "update", "cast", "copies", "arith", "activation", "reduce", "random", "softmax", "norm", "loss", "gemm", "gemm_mma", "gemm_f32", "clip"}

// Warm has the driver compile the kernels that most programs use and returns their number. The driver keeps what it compiled in a cache of
// the user's (CUDA_CACHE_PATH), so that later processes find it; a kernel that is there already costs a fraction. It ends early,
// with no error, when ctx is done.
func Warm(ctx context.Context, index int) (kernels int, err error) {
	dev, _, err := amp.OpenDevice(fmt.Sprintf("cuda:%d", index))
	if err != nil {
		return 0, err
	}
	d := dev.(*device)
	for _, symbol := range common() {
		if ctx.Err() != nil {
			break
		}
		err := d.do(func() error {
			f, err := d.function(symbol)
			if f != 0 {
				kernels++
			}
			return err
		})
		if err != nil {
			return kernels, err
		}
	}
	return kernels, nil
}

// common lists the symbols of the common units for the dtypes of autocast, unit by unit.
func common() (list []string) {
	by := map[string][]string{}
	ptx.Symbols(func(symbol, unit string) {
		if slices.Contains(commonUnits, unit) && ofCommonTypes(symbol) {
			by[unit] = append(by[unit], symbol)
		}
	})
	for _, unit := range commonUnits {
		slices.Sort(by[unit])
		list = append(list, by[unit]...)
	}
	return list
}

// ofCommonTypes says whether a symbol names no other dtype than float32, float16 and bfloat16.
func ofCommonTypes(symbol string) bool {
	for _, word := range strings.Split(symbol, "_") {
		if word == "f64" || word == "i64" || word == "b8" {
			return false
		}
	}
	return true
}
