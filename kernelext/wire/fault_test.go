package wire

import (
	"runtime"
	"strings"
	"testing"
)

// TestFault: what the go command says names the variable that is wrong, if it is set.
func TestFault(t *testing.T) {
	for _, c := range []struct{ said, name, value, want string }{
		{"go: parsing $GOFLAGS: unknown flag -bogus", "GOFLAGS", "-bogus", `GOFLAGS is "-bogus"`},
		{"go: go.mod requires go >= 1.26 (running go 1.22.0; GOTOOLCHAIN=go1.22.0)", "GOTOOLCHAIN", "go1.22.0", `GOTOOLCHAIN is "go1.22.0"`},
		{"go: cannot find GOROOT directory: /nowhere", "GOROOT", "/nowhere", `GOROOT is "/nowhere"`},
		{"go: cannot find GOROOT directory: /nowhere", "GOFLAGS", "-v", ""},
		{"no space left on device", "GOFLAGS", "-v", ""},
	} {
		got := Fault(c.said, func(name string) string {
			if name == c.name {
				return c.value
			}
			return ""
		})
		if !strings.Contains(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("%s: %q", c.said, got)
		}
	}
	for value, want := range map[string]bool{"": false, runtime.GOARCH: false, "riscv64": true} {
		got := OtherSystem(func(name string) string {
			if name == "GOARCH" {
				return value
			}
			return ""
		})
		if (got != "") != want || want && !strings.Contains(got, `GOARCH is "riscv64"`) {
			t.Errorf("GOARCH=%s: %q", value, got)
		}
	}
}
