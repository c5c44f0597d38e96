// Command asmgen writes the assembly of package cpu: run it through go generate in that directory.
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	dir := "."
	if len(os.Args) > 1 {
		dir = os.Args[1]
	}
	for name, text := range generate() {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			fmt.Fprintln(os.Stderr, "asmgen:", err)
			os.Exit(1)
		}
	}
}

// generate returns the text of every generated file by its name.
func generate() map[string]string {
	files := map[string]string{}
	var stubs goFile
	for name, write := range map[string]func(*asmFile){
		"gemm_amd64.s":      tiles,
		"dot_amd64.s":       dots,
		"gemv_amd64.s":      gemvs,
		"steps_amd64.s":     steps,
		"stepsy_amd64.s":    stepsY,
		"pairs_amd64.s":     pairs,
		"splits_amd64.s":    splits,
		"rowmax_amd64.s":    rowMaxima,
		"rowsums_amd64.s":   rowSums,
		"maxrows_amd64.s":   rowExtremes,
		"placed_amd64.s":    placedMaxima,
		"exprows_amd64.s":   expRows,
		"images_amd64.s":    images,
		"places_amd64.s":    places,
		"peak_amd64.s":      peaks,
		"philox_amd64.s":    randoms,
		"transpose_amd64.s": transposes,
		"reverse_amd64.s":   reverses,
		"truths_amd64.s":    truths,
		"finite_amd64.s":    finites,
		"normal_amd64.s":    normals,
		"doubles_amd64.s":   doubles,
		"factor_amd64.s":    factors,
		"squares_amd64.s":   squares,
		"products_amd64.s":  products,
		"table_amd64.s":     gathers,
		"packz_amd64.s":     packsZ,
		"packy_amd64.s":     packsY,
		"pack_amd64.s":      packs,
		"convert_amd64.s":   conversions,
		"math_amd64.s":      mathVectors,
		"lines_amd64.s":     lineVectors,
		"columns_amd64.s":   columnSums,
	} {
		f := &asmFile{}
		write(f)
		files[name] = f.text()
		stubs.add(f)
	}
	files["stubs_amd64.go"] = stubs.text()
	files["math_scalar.go"] = mathScalars()
	files["math_float32.go"] = mathNarrow()
	files["math_amd64.go"] = mathTable()
	files["lines_scalar.go"] = lineScalars()
	files["lines_amd64.go"] = lineTable()
	return files
}
