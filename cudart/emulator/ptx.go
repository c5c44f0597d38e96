package emulator

import (
	"context"
	"embed"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/halftone-ml/halftone/cudart/emulator/internal/ptx"
	"github.com/halftone-ml/halftone/cudart/kernels"
)

// PTXEnv names the variable that makes Library return the library made of Halftone's PTX, when it is "1".
const PTXEnv = "HALFTONE_EMULATOR_PTX"

// ptxCapability is that of the modules it is made of: they hold the kernels of lesser ones too.
const ptxCapability = 90

// translator is what writes C++ from PTX: libraries that another one wrote are others.
//
//go:embed internal/ptx/*.go
var translator embed.FS

const translatorFolder = "internal/ptx/"

// isKernels says whether a source has kernels in it.
func isKernels(path string) bool {
	ext := filepath.Ext(path)
	return ext == ".cu" || ext == ".ptx"
}

// ptxSources returns a file for every unit of kernels, as a driver is given it.
func ptxSources() ([]source, error) {
	units := map[string]bool{}
	kernels.Symbols(func(_, unit string) { units[unit] = true })
	var out []source
	for unit := range units {
		text, err := kernels.PTX(unit, ptxCapability)
		if err != nil {
			return nil, err
		}
		out = append(out, source{"kernels/" + unit + ".ptx", text})
	}
	return out, nil
}

// translatorSources is the translator's own code: what it writes is made of it too.
func translatorSources() ([]source, error) {
	entries, err := translator.ReadDir("internal/ptx")
	if err != nil {
		return nil, err
	}
	var out []source
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		data, err := translator.ReadFile("internal/ptx/" + e.Name())
		if err != nil {
			return nil, err
		}
		out = append(out, source{translatorFolder + e.Name(), data})
	}
	return out, nil
}

// ptxUnit writes the C++ of a module. It returns "" if there are no kernels in it.
func ptxUnit(_ context.Context, path string) (string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	cpp, names, err := ptx.Cpp(string(text))
	if err != nil {
		return "", fmt.Errorf("emulator: %s: %w", filepath.Base(path), err)
	}
	if len(names) == 0 {
		return "", nil
	}
	return path + ".cpp", os.WriteFile(path+".cpp", []byte(cpp), 0o644)
}
