package kernel

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/halftone-ml/halftone/kernelext/magic"
	"github.com/halftone-ml/halftone/kernelext/wire"
)

// Module is the path that cells import Halftone by.
const Module = wire.Module

// prelude runs a cell that nobody sees and that only imports: GoNB remembers imports, and leaves those that a cell does
// not use out of its program. A cell then needs no import line for Halftone, and goimports need not search the module
// cache for one, which takes it half a second and more.
func (k *kernel) prelude() {
	code := preludeCode(k.opts.Checkout)
	if code == "" {
		return
	}
	k.hidden(code)
}

// hidden runs a cell that nobody sees.
func (k *kernel) hidden(code string) {
	m := k.author.compose("execute_request", nil, map[string]any{
		"code": code, "silent": true, "store_history": false, "allow_stdin": false, "stop_on_error": false,
	})
	k.probes[m.id] = true // its answers are not for the front end
	k.child.shell.send(m.frames())
}

// preludeCode returns the prelude for the packages that the checkout has.
func preludeCode(checkout string) string {
	var b strings.Builder
	for _, pkg := range wire.CellPackages {
		if files, _ := filepath.Glob(filepath.Join(checkout, filepath.FromSlash(pkg), "*.go")); checkout != "" && len(files) > 0 {
			fmt.Fprintf(&b, "import %q\n", Module+"/"+pkg)
		}
	}
	if b.Len() > 0 {
		fmt.Fprintf(&b, "import %s %q\n", magic.CellAlias, magic.CellImport)
	}
	return b.String()
}

// resets reports whether a cell has a line that makes GoNB forget imports.
func resets(code string) bool {
	for line := range strings.Lines(code) {
		line = strings.TrimPrefix(strings.TrimSpace(line), "//gonb:")
		if f := strings.Fields(line); len(f) > 0 && (f[0] == "%reset" || f[0] == "%rm" || f[0] == "%remove") {
			return true
		}
	}
	return false
}
