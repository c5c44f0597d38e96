package kernels

import (
	"bytes"
	"compress/gzip"
	"embed"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/halftone-ml/halftone/cudart/kernels/internal/arch"
)

//go:generate go run ./gen64
//go:generate go run ./generate

// modules holds the PTX of every unit, and index.txt the symbols of each.
//
//go:embed ptx
var modules embed.FS

// units maps symbols to the names of their units.
var units = sync.OnceValue(func() map[string]string {
	index, err := modules.ReadFile("ptx/index.txt")
	if err != nil {
		panic("kernels: " + err.Error())
	}
	by := map[string]string{}
	for line := range strings.Lines(string(index)) {
		names := strings.Fields(line)
		for _, symbol := range names[1:] {
			by[symbol] = names[0]
		}
	}
	return by
})

// Unit returns the name of the unit (a .cu file and a module) that has a kernel, "" if none has.
func Unit(symbol string) string { return units()[symbol] }

// Symbols calls f with every kernel and its unit.
func Symbols(f func(symbol, unit string)) {
	for s, u := range units() {
		f(s, u)
	}
}

// ForLater says whether a unit has a form for later devices than those of capability 7.0, with kernels that the other one lacks.
func ForLater(unit string) bool {
	return slices.ContainsFunc(arch.All, func(a arch.Arch) bool {
		_, err := modules.ReadFile("ptx/" + a.File(unit))
		return a.Asked != "" && err == nil
	})
}

// PTX returns the module of a unit for a device of a compute capability (70, 86, 90 …).
func PTX(unit string, capability int) ([]byte, error) {
	for _, a := range arch.All {
		if !a.Serves(capability) {
			continue
		}
		packed, err := modules.ReadFile("ptx/" + a.File(unit))
		if err != nil {
			continue
		}
		r, err := gzip.NewReader(bytes.NewReader(packed))
		if err != nil {
			return nil, err
		}
		return io.ReadAll(r)
	}
	return nil, fmt.Errorf("kernels: no module %s for capability %d.%d; Halftone's kernels need 7.0 (Volta) or later", unit, capability/10, capability%10)
}
