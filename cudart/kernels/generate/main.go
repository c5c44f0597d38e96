// Command generate compiles the kernels to PTX with clang and packs them: go generate ./cudart/kernels. Every .cu becomes a module for
// sm_70, and another one for a later architecture where its first line asks for it.
package main

import (
	"bytes"
	"compress/gzip"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/halftone-ml/halftone/cudart/kernels/internal/arch"
	"github.com/halftone-ml/halftone/cudart/kernels/internal/made"
)

// Clang is the compiler that the checked-in modules are made with.
const clang = "clang-19"

var (
	entry   = regexp.MustCompile(`\.visible \.entry (\w+)\(`)
	comment = regexp.MustCompile(`(?m)[ \t]*//.*$`)
	blank   = regexp.MustCompile(`\n(\s*\n)+`)
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("generate: ")
	out := flag.String("o", "ptx", "folder to write to")
	flag.Parse()
	if err := run(*out); err != nil {
		log.Fatal(err)
	}
}

func run(out string) error {
	files, err := filepath.Glob("*.cu")
	if err != nil || len(files) == 0 {
		return fmt.Errorf("no .cu files here: run it in cudart/kernels (%v)", err)
	}
	if err := rightClang(); err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	var index strings.Builder
	units := make([]unit, len(files))
	var group sync.WaitGroup
	slots := make(chan bool, runtime.NumCPU())
	for i, file := range files {
		slots <- true
		group.Go(func() {
			units[i] = makeUnit(file, out)
			<-slots
		})
	}
	group.Wait()
	for i, u := range units {
		if u.err != nil {
			return u.err
		}
		fmt.Fprintf(&index, "%s %s\n", strings.TrimSuffix(files[i], ".cu"), strings.Join(u.symbols, " "))
	}
	if err := os.WriteFile(filepath.Join(out, "index.txt"), []byte(index.String()), 0o644); err != nil {
		return err
	}
	if err := removeOthers(out, files); err != nil {
		return err
	}
	return writeMade(out)
}

// removeOthers removes the modules that none of the files makes any more.
func removeOthers(out string, files []string) error {
	modules, err := filepath.Glob(filepath.Join(out, "*.ptx.gz"))
	if err != nil {
		return err
	}
	for _, file := range files {
		archs, err := architectures(file)
		if err != nil {
			return err
		}
		for _, a := range archs {
			modules = slices.DeleteFunc(modules, func(m string) bool { return m == modulePath(out, file, a) })
		}
	}
	for _, m := range modules {
		if err := os.Remove(m); err != nil {
			return err
		}
	}
	return nil
}

// modulePath is where a file's module for an architecture lies.
func modulePath(out, file string, a arch.Arch) string {
	return filepath.Join(out, a.File(strings.TrimSuffix(file, ".cu")))
}

// writeMade notes what the modules in out were made of.
func writeMade(out string) error {
	text, err := made.Text(os.DirFS("."), os.DirFS(out))
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(out, made.Name), []byte(text), 0o644)
}

// A unit is what became of a .cu file.
type unit struct {
	symbols []string // of its kernels, sorted
	err     error
}

// makeUnit compiles a file for each of its architectures and writes the modules.
func makeUnit(file, out string) (u unit) {
	archs, err := architectures(file)
	if err != nil {
		return unit{err: err}
	}
	for _, a := range archs {
		ptx, err := compile(file, a)
		if err != nil {
			return unit{err: err}
		}
		for _, m := range entry.FindAllSubmatch(ptx, -1) {
			u.symbols = append(u.symbols, string(m[1]))
		}
		if err := pack(modulePath(out, file, a), ptx); err != nil {
			return unit{err: err}
		}
	}
	slices.Sort(u.symbols)
	u.symbols = slices.Compact(u.symbols)
	return u
}

// rightClang says when clang is not the version that the checked-in modules are made with: every version writes other code.
func rightClang() error {
	want, err := os.ReadFile("clang.version")
	if err != nil {
		return err
	}
	out, err := exec.Command(clang, "--version").Output()
	if err != nil {
		return fmt.Errorf("%s: %w; on Debian 12, apt-get install %s", clang, err, clang)
	}
	if !bytes.Contains(out, append([]byte("version "), bytes.TrimSpace(want)...)) {
		return fmt.Errorf("the modules are made with clang %s, and this is\n%s", bytes.TrimSpace(want), out)
	}
	return nil
}

// architectures lists those that a file is compiled for.
func architectures(file string) ([]arch.Arch, error) {
	src, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var list []arch.Arch
	for _, a := range arch.All {
		if strings.HasPrefix(string(src), a.Asked) {
			list = append(list, a)
		}
	}
	return list, nil
}

// compile returns the PTX of a file without comments.
func compile(file string, a arch.Arch) ([]byte, error) {
	cmd := exec.Command(clang, "-x", "cuda", "--cuda-device-only", "-nocudainc", "-nocudalib", "--cuda-gpu-arch=sm_"+a.Name, "--cuda-feature=+ptx"+a.PTX,
		"-O3", "-ffp-contract=off", "-Wall", "-Wno-unused-function", "-S", file, "-o", "-")
	var errs bytes.Buffer
	cmd.Stderr = &errs
	ptx, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s %s for sm_%s: %w\n%s", clang, file, a.Name, err, errs.String())
	}
	ptx = comment.ReplaceAll(ptx, nil)
	return blank.ReplaceAll(ptx, []byte("\n")), nil
}

// pack writes a compressed file whose bytes depend on the content alone.
func pack(path string, data []byte) error {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := w.Write(data); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	return os.WriteFile(path, b.Bytes(), 0o644)
}
