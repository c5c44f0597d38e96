package kernels

import (
	"bytes"
	"regexp"
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
			if capability == 90 || !ForLater(unit) {
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
		for _, name := range regexp.MustCompile(`[A-Za-z_$][\w$]*`).FindAllString(s, -1) {
			if strings.HasPrefix(name, "_ZL") && !strings.Contains(s, name+"\n(") && bytes.Contains(ptx, []byte(name+"\n(")) {
				t.Errorf("%s calls %s, which is not there", symbol, name)
				return
			}
		}
	}
}

func TestNameOfAPart(t *testing.T) {
	for head, want := range map[string]string{
		".visible .entry add_f16(\n\t.param .align 8 .b8 add_f16_param_0[8]\n)\n":          "add_f16",
		".func  (.param .align 16 .b8 func_retval0[24]) _ZL3two\n(\n\t.param .b64 x\n)\n;": "_ZL3two",
		".func plain$1(\n":                         "plain$1",
		".shared .align 4 .b8 _ZZ4partE4part[32];": "_ZZ4partE4part",
		".extern .shared .align 16 .b8 dynamic[];": "dynamic",
		".const .align 8 .b8 table[24] = ":         "table",
		".global .u32 counter;":                    "counter",
		".visible .global .align 4 .u32 one = 1;":  "one",
		"// nothing": "",
	} {
		if got := nameIn(head); got != want {
			t.Errorf("%q names %q, want %q", head, got, want)
		}
	}
}
