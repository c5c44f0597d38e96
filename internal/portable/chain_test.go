package portable

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"strings"
	"testing"
)

const module = "github.com/halftone-ml/halftone/"

// never are the parts that a part of the module does not import: kernelext → widgets → amp ← cudart. What is allowed all the same: the package
// that says where NVIDIA's libraries lie, and loads none; and programs, which choose their devices as cells do.
var never = map[string]struct{ parts, allowed []string }{
	"amp":       {parts: []string{"cudart", "widgets", "kernelext"}},
	"widgets":   {parts: []string{"cudart", "kernelext"}},
	"cudart":    {parts: []string{"widgets", "kernelext"}},
	"internal":  {parts: []string{"widgets", "kernelext", "cudart"}},
	"kernelext": {parts: []string{"cudart"}, allowed: []string{"cudart/libraries"}},
}

// A node is what `go list` says of a package.
type node struct {
	ImportPath, Name string
	Imports          []string
}

// TestChain: imports run one way.
func TestChain(t *testing.T) {
	for path, p := range packages(t) {
		part, _, _ := strings.Cut(path, "/")
		if p.Name == "main" {
			continue
		}
		for _, of := range p.Imports {
			if breaks(part, of) {
				t.Errorf("%s imports %s", path, of)
			}
		}
	}
}

// breaks says whether a package of a part may not import another one.
func breaks(part, of string) bool {
	of, ours := strings.CutPrefix(of, module)
	if !ours {
		return false
	}
	for _, allowed := range never[part].allowed {
		if of == allowed {
			return false
		}
	}
	to, _, _ := strings.Cut(of, "/")
	for _, p := range never[part].parts {
		if to == p {
			return true
		}
	}
	return false
}

// TestBreaks: the chain can break.
func TestBreaks(t *testing.T) {
	for _, c := range []struct {
		part, of string
		want     bool
	}{
		{"amp", module + "cudart", true}, {"amp", module + "widgets/render", true}, {"cudart", module + "kernelext", true}, {"kernelext", module + "cudart/emulator", true},
		{"kernelext", module + "cudart/libraries", false}, {"cudart", module + "amp", false}, {"amp", "slices", false},
	} {
		if breaks(c.part, c.of) != c.want {
			t.Errorf("%s imports %s: %v", c.part, c.of, !c.want)
		}
	}
}

// packages lists the module's packages by their paths within it.
func packages(t *testing.T) map[string]node {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Name,Imports", "./...")
	cmd.Dir = "../.."
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	all := map[string]node{}
	for d := json.NewDecoder(out); ; {
		var p node
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		all[strings.TrimPrefix(p.ImportPath, module)] = p
	}
	if err := cmd.Wait(); err != nil || len(all) < 50 {
		t.Fatalf("%d packages: %v", len(all), err)
	}
	return all
}
