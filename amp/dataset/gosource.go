package dataset

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// GoSource returns up to max bytes of the source of Go's standard library found on the machine, everything there is for max 0:
// a text for a small language model that every machine with Go has. The files are those of src without cmd, vendored packages,
// test data, tests, generated files and files above 256 KiB (tables), in the order of their paths, each without the copyright notice; when max cuts
// that short, files are left out evenly over the whole tree, so that the text has every kind of package. The same Go version
// and max give the same text; Name has the version. The tree is the one in the environment variable GOROOT, else the one that
// the go command on the path belongs to.
func GoSource(max int) (Text, error) {
	root, err := goRoot()
	if err != nil {
		return Text{}, err
	}
	return goSource(root, max)
}

// goRoot finds a tree with source.
func goRoot() (string, error) {
	var tried []string
	look := func(how, root string) bool {
		if root == "" {
			tried = append(tried, how+" names none")
			return false
		}
		if info, err := os.Stat(filepath.Join(root, "src", "fmt")); err == nil && info.IsDir() {
			return true
		}
		tried = append(tried, fmt.Sprintf("%s names %s, which has no src/fmt", how, root))
		return false
	}
	if root := os.Getenv("GOROOT"); look("GOROOT", root) {
		return root, nil
	}
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		tried = append(tried, fmt.Sprintf("go env GOROOT: %v", err))
	} else if root := strings.TrimSpace(string(out)); look("go env GOROOT", root) {
		return root, nil
	}
	return "", fmt.Errorf("dataset: no Go source tree: %s; fix: install Go from its archive, or set GOROOT to the folder that has src", strings.Join(tried, "; "))
}

// maxSource is the size above which a file is a table rather than a program.
const maxSource = 256 << 10

type sourceFile struct {
	path string
	size int64
}

// goSource reads the tree below root.
func goSource(root string, max int) (Text, error) {
	if max < 0 {
		misused("GoSource", "ask for a number of bytes, 0 for all", "%d", max)
	}
	src := filepath.Join(root, "src")
	files, total, err := sourceFiles(src)
	if err != nil {
		return Text{}, err
	}
	if len(files) == 0 {
		return Text{}, fmt.Errorf("dataset: %s has no Go files; fix: set GOROOT to a folder whose src has the standard library", src)
	}
	want := total
	if max > 0 {
		want = min(total, int64(max))
	}
	var text []byte
	seen := int64(0) // bytes of the files gone by
	for _, f := range files {
		seen += f.size
		wanted := want * seen / total // how much of them the text should have
		if max > 0 && len(text) > 0 && int64(len(text)) >= wanted {
			continue
		}
		b, err := os.ReadFile(f.path)
		if err != nil {
			return Text{}, fmt.Errorf("dataset: reading the Go source: %w; fix: make it readable", err)
		}
		if !bytes.HasPrefix(b, []byte("// Code generated")) {
			text = append(text, withoutNotice(b)...)
		}
	}
	if max > 0 && len(text) > max {
		text = text[:max:max]
	}
	return Text{Data: text, Name: "source of " + goVersion(root)}, nil
}

// sourceFiles lists the files in the order of their paths, and their bytes.
func sourceFiles(src string) (files []sourceFile, total int64, err error) {
	err = filepath.WalkDir(src, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			if path == filepath.Join(src, "cmd") || name == "vendor" || name == "testdata" {
				return fs.SkipDir
			}
			return nil
		}
		if !d.Type().IsRegular() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if info.Size() <= maxSource {
			files = append(files, sourceFile{path, info.Size()})
			total += info.Size()
		}
		return nil
	})
	if err != nil {
		err = fmt.Errorf("dataset: walking the Go source: %w; fix: make it readable", err)
	}
	return files, total, err
}

// withoutNotice removes the comment lines of the copyright notice that a file begins with.
func withoutNotice(b []byte) []byte {
	if !bytes.HasPrefix(b, []byte("// Copyright")) {
		return b
	}
	for bytes.HasPrefix(b, []byte("//")) {
		_, b, _ = bytes.Cut(b, []byte("\n"))
	}
	return bytes.TrimLeft(b, "\r\n")
}

// goVersion reads the tree's version; that of the running program is what is left when there is no such file.
func goVersion(root string) string {
	if b, err := os.ReadFile(filepath.Join(root, "VERSION")); err == nil {
		if first, _, _ := strings.Cut(string(b), "\n"); strings.HasPrefix(first, "go") {
			return strings.TrimSpace(first)
		}
	}
	return runtime.Version()
}
