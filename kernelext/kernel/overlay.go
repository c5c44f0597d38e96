package kernel

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/halftone-ml/halftone/kernelext/kernel/lsp"
	"github.com/halftone-ml/halftone/kernelext/wire"
)

// An overlay is a cell as gopls can read it: a file beside GoNB's main.go, which holds what earlier cells declared.

// overlayText makes a file of a cell. Its first line is the package and what the cell needs imported, so that line n of the
// cell is line n+1 of the file; columns are the same. It returns false for a cell in another language.
func overlayText(code string, imports map[string]string) (string, bool) {
	lines := strings.Split(code, "\n")
	if strings.HasPrefix(lines[0], "%%") && strings.Trim(lines[0], "% \t") != "" && !strings.HasPrefix(lines[0], "%% ") {
		return "", false
	}
	body := false
	for i := 0; i < len(lines); i++ {
		line := strings.TrimPrefix(lines[i], "//gonb:")
		switch {
		case line == "%%" || strings.HasPrefix(line, "%% ") || line == "%main" || strings.HasPrefix(line, "%main "):
			if lines[i] = ""; !body {
				lines[i], body = "func _() {", true
			}
		case strings.HasPrefix(line, "%") || strings.HasPrefix(line, "!"):
			for strings.HasSuffix(lines[i], "\\") && i+1 < len(lines) { // it goes on
				lines[i] = ""
				i++
			}
			lines[i] = ""
		case strings.HasPrefix(line, "package "):
			lines[i] = ""
		}
	}
	if body {
		lines = append(lines, "}")
	}
	var b strings.Builder
	b.WriteString("package main")
	for _, name := range selected(code) {
		if p := imports[name]; p != "" && !strings.Contains(code, `"`+p+`"`) {
			fmt.Fprintf(&b, "; import %s %q", name, p)
		}
	}
	return b.String() + "\n" + strings.Join(lines, "\n"), true
}

var selector = regexp.MustCompile(`\b([a-z]\w*)\.`)

// selected lists the names that a cell selects something from: packages may be among them.
func selected(code string) (names []string) {
	for _, m := range selector.FindAllStringSubmatch(code, -1) {
		if !slices.Contains(names, m[1]) {
			names = append(names, m[1])
		}
	}
	return names
}

// overlayPosition is where the cursor of a cell is in its overlay.
func overlayPosition(text []rune, at int) lsp.Position {
	p := lsp.Position{Line: 1}
	for i, r := range text[:at] {
		if r == '\n' {
			p.Line++
			p.Character = 0
		} else {
			p.Character += utf16.RuneLen(text[i])
		}
	}
	return p
}

var importSpec = regexp.MustCompile(`(?m)^\s*(?:import\s+)?(?:([\w]+)\s+)?"([\w.\-/~]+)"\s*(?://.*)?$`)

// knownImports maps names to the packages that a cell may mean by them: Halftone's, the standard library's, and above these
// what earlier cells have imported.
func knownImports(cells []cell) map[string]string {
	known := map[string]string{}
	for _, p := range standard {
		known[path.Base(p)] = p
	}
	for _, p := range wire.CellPackages {
		known[path.Base(p)] = Module + "/" + p
	}
	for _, c := range cells {
		if !strings.Contains(c.Code, "import") {
			continue
		}
		for _, m := range importSpec.FindAllStringSubmatch(c.Code, -1) {
			name := m[1]
			if name == "" || name == "import" {
				name = path.Base(m[2])
			}
			known[name] = m[2]
		}
	}
	return known
}

// standard are the packages of the standard library that cells use, none with the last name of another: as goimports has it,
// rand is math/rand and template is text/template.
var standard = strings.Fields(`
archive/tar archive/zip bufio bytes cmp compress/gzip container/heap container/list context crypto/md5 crypto/sha1 crypto/sha256
encoding/base64 encoding/binary encoding/csv encoding/gob encoding/hex encoding/json encoding/xml errors expvar flag fmt go/ast
go/format go/parser go/token hash/crc32 hash/fnv html image image/color image/draw image/jpeg image/png io io/fs iter log
log/slog maps math math/big math/bits math/cmplx math/rand net net/http net/http/httptest net/url os os/exec os/signal path
path/filepath reflect regexp runtime runtime/debug runtime/pprof slices sort strconv strings sync sync/atomic syscall testing
text/tabwriter text/template time unicode unicode/utf16 unicode/utf8 unsafe`)
