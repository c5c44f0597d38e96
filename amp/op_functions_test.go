package amp

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The public functions of rows, read from the package's source: a function calls a row if it names the row's variable, or calls a function
// that does.

// A goSource is what the package's files say of its functions and rows.
type goSource struct {
	functions map[string]*declared
	variables map[string]string // of rows, by the row's name
}

// A declared function or method.
type declared struct {
	public  bool            // a function of the package's users
	given   bool            // it takes a row as an argument: which one its callers say
	tensors bool            // a public one that takes a scope and tensors, and returns tensors
	doc     string          // its first sentence
	mention map[string]bool // names in its body
}

func readSource(t *testing.T) goSource {
	t.Helper()
	src := goSource{map[string]*declared{}, map[string]string{}}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution|parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil {
				src.add(fn)
			}
		}
	}
	return src
}

// add notes a function; of one that is declared twice, as methods of several types are, both.
func (src goSource) add(fn *ast.FuncDecl) {
	d := src.functions[fn.Name.Name]
	if d == nil {
		d = &declared{mention: map[string]bool{}}
		src.functions[fn.Name.Name] = d
	}
	d.public = d.public || fn.Recv == nil && fn.Name.IsExported()
	if fn.Recv == nil && fn.Name.IsExported() && among(fn.Type.Params, "Scope") && among(fn.Type.Params, "Tensor") && among(fn.Type.Results, "Tensor") {
		d.tensors, d.doc = true, new(doc.Package).Synopsis(fn.Doc.Text())
	}
	for _, p := range fn.Type.Params.List {
		if star, ok := p.Type.(*ast.StarExpr); ok {
			if id, ok := star.X.(*ast.Ident); ok && id.Name == "Op" {
				d.given = true
			}
		}
	}
	if fn.Name.Name == "init" { // where rows are defined, whose kernels and gradients name others
		ast.Inspect(fn.Body, src.row)
		return
	}
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			d.mention[id.Name] = true
		}
		return true
	})
}

// among says whether one of some parameters or results is a pointer to a type of this package, or a list of such.
func among(list *ast.FieldList, name string) bool {
	return list != nil && slices.ContainsFunc(list.List, func(p *ast.Field) bool {
		t := p.Type
		switch of := t.(type) {
		case *ast.Ellipsis:
			t = of.Elt
		case *ast.ArrayType:
			t = of.Elt
		}
		star, ok := t.(*ast.StarExpr)
		if !ok {
			return false
		}
		id, ok := star.X.(*ast.Ident)
		return ok && id.Name == name
	})
}

// row notes the variable of a row: of opX = define(Op{Name: "x"}) and of opX = helper("x").
func (src goSource) row(n ast.Node) bool {
	a, ok := n.(*ast.AssignStmt)
	if !ok || len(a.Lhs) != 1 {
		return true
	}
	id, ok := a.Lhs[0].(*ast.Ident)
	call, called := a.Rhs[0].(*ast.CallExpr)
	if !ok || !called || len(call.Args) == 0 {
		return true
	}
	name := call.Args[0]
	if lit, ok := name.(*ast.CompositeLit); ok {
		for _, e := range lit.Elts {
			if kv, ok := e.(*ast.KeyValueExpr); ok && kv.Key.(*ast.Ident).Name == "Name" {
				name = kv.Value
			}
		}
	}
	if lit, ok := name.(*ast.BasicLit); ok && lit.Kind == token.STRING {
		if text, err := strconv.Unquote(lit.Value); err == nil && byName[text] != nil {
			src.variables[text] = id.Name
		}
	}
	return true
}

// calls says whether a function calls the row of a variable.
func (src goSource) calls(function, variable string, seen map[string]bool) bool {
	d := src.functions[function]
	if d == nil || seen[function] {
		return false
	}
	seen[function] = true
	if d.mention[variable] {
		return true
	}
	if d.given {
		return false
	}
	for name := range d.mention {
		if src.calls(name, variable, seen) {
			return true
		}
	}
	return false
}

// named returns the public function whose name is the row's but for case and underscores; an op in place has one of another name.
func (src goSource) named(row string) string {
	if strings.HasSuffix(row, "_") {
		return ""
	}
	for name, d := range src.functions {
		if d.public && strings.EqualFold(name, strings.ReplaceAll(row, "_", "")) {
			return name
		}
	}
	return ""
}

// functions gives the public functions of each row that call it: that of its name, or else those that a test's call of it goes through, or
// else those that name it themselves.
func functions(t *testing.T) map[string]string {
	src, through, out := readSource(t), callers(), map[string]string{}
	for o := range Ops() {
		variable, known := src.variables[o.Name]
		call := func(name string) bool { return !known || src.calls(name, variable, map[string]bool{}) }
		if name := src.named(o.Name); name != "" && call(name) {
			out[o.Name] = name
			continue
		}
		var found []string
		if through[o.Name] != "" {
			found = slices.DeleteFunc(strings.Split(through[o.Name], ", "), func(name string) bool { return !call(name) })
		}
		if len(found) == 0 && known && !strings.HasSuffix(o.Name, "_backward") { // gradients' formulas are no functions of theirs
			for name, d := range src.functions {
				if d.public && d.mention[variable] {
					found = append(found, name)
				}
			}
			slices.Sort(found)
		}
		out[o.Name] = strings.Join(found, ", ")
	}
	return out
}

// TestOpFunctions: the reference names functions that call the row, and the ones that a reader looks for.
func TestOpFunctions(t *testing.T) {
	src, all := readSource(t), functions(t)
	checked := 0
	for o := range Ops() {
		variable, known := src.variables[o.Name] // not of those that lie in a list with others
		for _, name := range strings.FieldsFunc(all[o.Name], func(r rune) bool { return r == ',' || r == ' ' }) {
			checked++
			if d := src.functions[name]; d == nil || !d.public || known && !src.calls(name, variable, map[string]bool{}) {
				t.Errorf("%s does not call %s", name, o.Name)
			}
		}
	}
	if checked < 280 || len(src.variables) < 280 {
		t.Errorf("%d functions of rows, %d variables", checked, len(src.variables))
	}
	for row, want := range map[string]string{
		"add": "Add", "add_": "AddInPlace", "copy_": "CopyInPlace", "clamp_": "ClampGrad", "mul_scalar_": "ScaleGrad", "batch_norm_backward": "",
		"batch_norm": "BatchNorm", "linalg_vecdot": "Vecdot", "isnan": "IsNaN", "reshape": "Reshape", "sum": "Sum",
	} {
		if all[row] != want {
			t.Errorf("%s is called by %q, want %q", row, all[row], want)
		}
	}
}

// TestFunctionsAreListed: who looks for a function of tensors in the reference finds it, whether it is a row's or made of several.
func TestFunctionsAreListed(t *testing.T) {
	page, err := os.ReadFile("OPS.md")
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{}
	for _, line := range strings.Split(string(page), "\n") {
		cells := strings.SplitN(line, " | ", 3)
		for _, cell := range cells[:min(2, len(cells))] {
			for _, name := range strings.Split(strings.Trim(cell, "| `"), ", ") {
				listed[name] = true
			}
		}
	}
	n := 0
	for name, d := range readSource(t).functions {
		if !d.tensors {
			continue
		}
		n++
		if !listed[name] {
			t.Errorf("%s is not in OPS.md", name)
		}
	}
	if n < 330 {
		t.Errorf("only %d functions", n)
	}
}
