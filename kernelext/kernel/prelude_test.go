package kernel

import (
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/kernelext/wire"
)

// TestPreludeImportsThePackages checks that no package of the prelude is left out because its folder was renamed.
func TestPreludeImportsThePackages(t *testing.T) {
	code := preludeCode(checkout)
	for _, pkg := range wire.CellPackages {
		if !strings.Contains(code, `import "`+Module+"/"+pkg+"\"\n") {
			t.Errorf("no import of %s in\n%s", pkg, code)
		}
	}
}
