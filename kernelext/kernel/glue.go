package kernel

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/halftone-ml/halftone/cudart/libraries"
)

// Where an NVIDIA driver is, cells that use Halftone get cudart too, without which amp knows no device "cuda", and the emulator where the kernel's
// environment asks for it. No import of the
// cell's says so: GoNB would remember a blank import and link it into every cell. A file of our own beside GoNB's main.go
// is there for the cells that need it, and moves none of their lines.
const (
	glueName     = "halftone_cuda.go"
	glue         = "package main\n\nimport _ \"" + Module + "/cudart\"\n"
	emulatorGlue = "package main\n\nimport _ \"" + Module + "/cudart/emulator\"\n"
)

// glueFor returns what the file has to say, "" if there is nothing to link.
func glueFor(driver bool, env []string) string {
	mode := ""
	for _, v := range env { // the last one holds
		if value, ok := strings.CutPrefix(v, libraries.ModeEnv+"="); ok {
			mode = value
		}
	}
	switch {
	case mode == libraries.ModeEmulator:
		return emulatorGlue
	case driver:
		return glue
	}
	return ""
}

// hasDriver says whether there is an NVIDIA driver that cudart finds.
func hasDriver() bool {
	found := false
	for _, lib := range libraries.Discover() {
		if lib.Required {
			if lib.Path == "" {
				return false
			}
			found = true
		}
	}
	return found
}

// usesHalftone tells code that names one of the packages that the prelude imports.
var usesHalftone = regexp.MustCompile(`\b(?:amp|nn|optim|dataset|glyphs|safetensors|checkpoint|session|widgets|cudart)\.[A-Z]|%%amp\b`)

// setGlue puts the file in its place for a cell, or takes it away.
func (k *kernel) setGlue(code string) {
	if k.glue == "" || k.child == nil {
		return
	}
	// What is declared anywhere is in every cell, what is in a main function in its own.
	k.declares = k.declares || usesHalftone.MatchString(declarations(code))
	want := k.declares || usesHalftone.MatchString(code)
	for _, dir := range workDirs(k.child.tmp) {
		file := filepath.Join(dir, glueName)
		_, err := os.Stat(file)
		switch {
		case want && err != nil:
			_ = os.WriteFile(file, []byte(k.glue), 0o600)
		case !want && err == nil:
			_ = os.Remove(file)
		}
	}
}

// declarations returns the part of a cell that GoNB remembers.
func declarations(code string) string {
	var b strings.Builder
	for line := range strings.Lines(code) {
		if f := strings.Fields(strings.TrimPrefix(strings.TrimSpace(line), "//gonb:")); len(f) > 0 && (f[0] == "%%" || f[0] == "%main" || f[0] == "%%amp") {
			break
		}
		b.WriteString(line)
	}
	return b.String()
}
