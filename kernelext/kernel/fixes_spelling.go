package kernel

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/halftone-ml/halftone/internal/spelling"
	"github.com/halftone-ml/halftone/kernelext/wire"
)

// Names that are nearly those of a package of the module: its source, which cells are built from, says what there is.

var misspelledName = regexp.MustCompile(`: undefined: (\pL[\pL\pN]*)\.(\pL[\pL\pN_]*)(?: \(but have \pL[\pL\pN]*\))?$`)

// fixSpelling says which name of a package, or of a type, is probably meant; "" where none is near. root is the module's folder.
func fixSpelling(line, root string) string {
	if m := misspelledName.FindStringSubmatch(line); m != nil {
		if near := nearName(m[2], exported(root, m[1])); near != "" {
			return fmt.Sprintf("%s.%s is there: look at the spelling", m[1], near)
		}
	}
	if m := missingMember.FindStringSubmatch(line); m != nil {
		pkg, typ, _ := strings.Cut(m[1], ".")
		if near := nearName(m[2], members(root, pkg, typ)); near != "" {
			return fmt.Sprintf("%s.%s has %s: look at the spelling", pkg, typ, near)
		}
	}
	return ""
}

// nearName is the name that differs least; letters of the other case and underscores, which Python has, count for nothing.
func nearName(name string, known []string) string {
	if len(known) == 0 {
		return ""
	}
	return spelling.Nearest(strings.ReplaceAll(name, "_", ""), known)
}

// exported lists what a package exports beside methods.
func exported(root, pkg string) (names []string) {
	for _, d := range declaredIn(root, pkg) {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				names = append(names, d.Name.Name)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					names = append(names, s.Name.Name)
				case *ast.ValueSpec:
					for _, n := range s.Names {
						names = append(names, n.Name)
					}
				}
			}
		}
	}
	return public(names)
}

// members lists the fields and methods of a type, with those of what it embeds.
func members(root, pkg, typ string) []string {
	all := declaredIn(root, pkg)
	var names []string
	seen := map[string]bool{}
	var add func(typ string)
	add = func(typ string) {
		if seen[typ] {
			return
		}
		seen[typ] = true
		for _, d := range all {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv != nil && len(d.Recv.List) > 0 && typeName(d.Recv.List[0].Type) == typ {
					names = append(names, d.Name.Name)
				}
			case *ast.GenDecl:
				for _, f := range fields(d, typ) {
					for _, n := range f.Names {
						names = append(names, n.Name)
					}
					if len(f.Names) == 0 {
						add(typeName(f.Type))
					}
				}
			}
		}
	}
	add(typ)
	return public(names)
}

// fields lists the fields of a struct, or the methods of an interface, where the declaration has it.
func fields(d *ast.GenDecl, typ string) []*ast.Field {
	for _, s := range d.Specs {
		t, ok := s.(*ast.TypeSpec)
		if !ok || t.Name.Name != typ {
			continue
		}
		switch t := t.Type.(type) {
		case *ast.StructType:
			return t.Fields.List
		case *ast.InterfaceType:
			return t.Methods.List
		}
	}
	return nil
}

// typeName is the name of a type or of what it points to, without the arguments of a generic one.
func typeName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return typeName(e.X)
	case *ast.IndexExpr:
		return typeName(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

func public(names []string) []string {
	return slices.DeleteFunc(names, func(n string) bool { return !ast.IsExported(n) })
}

// declaredIn reads a package's source; nil where it is not to be had. It is read anew each time: it may have been edited, and a cell that
// does not compile is no moment for haste.
func declaredIn(root, pkg string) (all []ast.Decl) {
	dir := wire.PackageFolder(pkg)
	if dir == "" || root == "" {
		return nil
	}
	files, _ := filepath.Glob(filepath.Join(root, filepath.FromSlash(dir), "*.go"))
	for _, f := range files {
		if strings.HasSuffix(f, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), f, nil, parser.SkipObjectResolution)
		if err == nil {
			all = append(all, parsed.Decls...)
		}
	}
	return all
}
