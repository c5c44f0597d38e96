//go:build long

package amp

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// fusedAt finds a fused multiply-add in an assembly listing for arm64, with the place in the source that it comes from.
var fusedAt = regexp.MustCompile(`(?m)^\s+0x\w+ \d+ \(([^)]+):(\d+)\)\s+FN?M(?:ADD|SUB)[SD]\b`)

// TestNoCompilerFusesProducts compiles the packages for arm64, whose compiler may fuse x*y + z, which amd64's does not: the same
// source would round differently. A conversion around the product forbids it: T(x*y) + z. Allowed are math.FMA, and the tiles
// that reproducible mode does not use.
func TestNoCompilerFusesProducts(t *testing.T) {
	cmd := exec.Command("go", "build", "-gcflags=github.com/halftone-ml/halftone/amp/...=-S", "./...")
	cmd.Env = append(os.Environ(), "GOARCH=arm64", "CGO_ENABLED=0")
	listing, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatal(err)
	}
	places := fusedAt.FindAllStringSubmatch(string(listing), -1)
	explicit, seen := 0, map[string]bool{}
	for _, p := range places {
		if seen[p[1]+":"+p[2]] {
			continue
		}
		seen[p[1]+":"+p[2]] = true
		source, err := os.ReadFile(p[1])
		n, _ := strconv.Atoi(p[2])
		lines := strings.Split(string(source), "\n")
		if err != nil || n == 0 || n > len(lines) {
			t.Fatal(p[0], err)
		}
		switch {
		case strings.Contains(lines[n-1], "math.FMA("):
			explicit++
		case filepath.Base(p[1]) != "tile_generic.go":
			t.Errorf("%s:%s: a product is fused into a sum: %s", p[1], p[2], strings.TrimSpace(lines[n-1]))
		}
	}
	if explicit < 100 {
		t.Errorf("%d explicit fused multiply-adds found: the listing is not read right", explicit)
	}
}

// elementary finds functions of package math whose bits differ between processors.
var elementary = regexp.MustCompile(`\bmath\.(Exp|Exp2|Expm1|Log|Log1p|Log2|Log10|Pow|Tanh?|Sinh?|Cosh?|Sincos|Asinh?|Acosh?|Atanh?|Atan2|Erfc?|Erfinv|Gamma|Lgamma|Cbrt|Hypot)\b`)

// TestElementaryFunctionsHaveOneSource: kernels, layers and schedules take them from package cpu.
func TestElementaryFunctionsHaveOneSource(t *testing.T) {
	files := 0
	for _, pattern := range []string{"*.go", "nn/*.go", "optim/*.go"} {
		names, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			source, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if strings.HasSuffix(name, "_test.go") || name == "format.go" { // which takes the exponent of a power of two
				continue
			}
			files++
			for i, line := range strings.Split(string(source), "\n") {
				if f := elementary.FindString(line); f != "" {
					t.Errorf("%s:%d: %s: use the function of amp/internal/cpu", name, i+1, f)
				}
			}
		}
	}
	if files < 50 {
		t.Errorf("%d files read", files)
	}
}
