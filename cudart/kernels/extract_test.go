package kernels

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

// TestKernelIsWhole cuts kernels out of their units, every one of the small units and a sample of the others: each has to come with one
// entry, and with every function that it calls.
func TestKernelIsWhole(t *testing.T) {
	all := map[string][]string{}
	Symbols(func(symbol, unit string) { all[unit] = append(all[unit], symbol) })
	for unit, symbols := range all {
		slices.Sort(symbols)
		for i := 0; i < len(symbols); i += 1 + len(symbols)/4 {
			isWhole(t, unit, symbols[i])
		}
	}
}

func isWhole(t *testing.T, unit, symbol string) {
	ptx, err := PTX(unit, 90)
	if err != nil {
		t.Fatal(err)
	}
	for _, capability := range []int{70, 90} {
		module, err := Kernel(symbol, capability)
		if err != nil {
			t.Fatal(err)
		}
		if module == nil {
			if capability == 90 || !SM80(unit) {
				t.Errorf("%s has no module for %d", symbol, capability)
			}
			continue
		}
		s := string(module)
		if strings.Count(s, ".visible .entry") != 1 || !strings.Contains(s, ".entry "+symbol+"(") || !strings.HasPrefix(strings.TrimSpace(s), ".version") {
			t.Errorf("%s for %d: not one entry", symbol, capability)
		}
		if capability == 70 {
			continue
		}
		for _, name := range ptxName.FindAllString(s, -1) {
			if strings.HasPrefix(name, "_ZL") && !strings.Contains(s, name+"\n(") && bytes.Contains(ptx, []byte(name+"\n(")) {
				t.Errorf("%s calls %s, which is not there", symbol, name)
				return
			}
		}
	}
}
