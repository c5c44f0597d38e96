// Command gpubundle packs what a machine with a GPU and without Go needs to run the CUDA tests and benchmarks: test binaries, gpubench,
// its PyTorch peer and a program `run`. It is what `make gpu-bundle` calls.
package main

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
)

const module = "github.com/halftone-ml/halftone/"

// withoutGPU are packages whose tests need compilers and the checkout, and no GPU.
var withoutGPU = map[string]bool{"cudart/emulator": true, "cudart/kernels": true, "cudart/driver/drivertest": true}

const maxBytes = 60 << 20

func main() {
	out := flag.String("o", ".halftone/gpu-bundle", "folder to make; the archive is beside it, with .tar.xz, or .tar.gz where nothing here packs the former")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := build(ctx, *out); err != nil {
		fmt.Fprintln(os.Stderr, "gpu-bundle:", err)
		os.Exit(1)
	}
}

func build(ctx context.Context, out string) error {
	if err := os.RemoveAll(out); err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	list, err := goCommand(ctx, "list", "-f", "{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}\t{{.Dir}}{{end}}", "./cudart/...")
	if err != nil {
		return err
	}
	for line := range strings.Lines(list) {
		path, dir, ok := strings.Cut(strings.TrimSpace(line), "\t")
		path = strings.TrimPrefix(path, module)
		if !ok || withoutGPU[path] || strings.HasPrefix(path, "cudart/internal/") || strings.HasPrefix(path, "cudart/kernels/") {
			continue
		}
		fmt.Println("packing", path)
		to := filepath.Join(out, "tests", filepath.FromSlash(path))
		if _, err := goCommand(ctx, "test", "-c", "-vet=off", "-ldflags=-s -w", "-o", filepath.Join(to, "suite.test"), "./"+path); err != nil {
			return err
		}
		if err := testdata(dir, to); err != nil {
			return err
		}
	}
	// amp's own tests hold the walk over the op table, which compares each row on the GPU with the CPU, those of sessions keep tensors in its
	// memory from process to process, and those of layers and optimizers run with the GPU as the device of scopes that name none.
	for _, path := range []string{"amp", "kernelext/session", "amp/optim", "amp/checkpoint", "amp/nn"} {
		fmt.Println("packing", path)
		to := filepath.Join(out, "tests", filepath.FromSlash(path))
		if _, err := goCommand(ctx, "test", "-c", "-vet=off", "-ldflags=-s -w", "-o", filepath.Join(to, "suite.test"), "./"+path); err != nil {
			return err
		}
		if err := testdata(path, to); err != nil {
			return err
		}
	}
	// All of amp's tests run there, and some compare with what lies in their folder and with the README above it.
	if err := files("amp", filepath.Join(out, "tests", "amp")); err != nil {
		return err
	}
	if err := copyFile("README.md", filepath.Join(out, "tests", "README.md")); err != nil {
		return err
	}
	if _, err := goCommand(ctx, "build", "-buildvcs=false", "-ldflags=-s -w", "-o", filepath.Join(out, "run"), "./cudart/internal/gpubench"); err != nil {
		return err
	}
	for _, script := range []string{"gpubench/peer.py", "gpubench/steps.py", "kernelpeer.py", "turns/turns.py"} {
		if err := copyFile(filepath.Join("cudart", "internal", filepath.FromSlash(script)), filepath.Join(out, filepath.Base(script))); err != nil {
			return err
		}
	}
	if err := copyFile(filepath.Join("cudart", "internal", "gpubundle", "README.md"), filepath.Join(out, "README.md")); err != nil {
		return err
	}
	commit, err := exec.CommandContext(ctx, "git", "describe", "--always", "--dirty").Output()
	if err != nil {
		commit = []byte("unknown")
	}
	if err := os.WriteFile(filepath.Join(out, "commit"), bytes.TrimSpace(commit), 0o644); err != nil {
		return err
	}
	p := packers[slices.IndexFunc(packers, packer.there)]
	return archive(ctx, out, out+p.suffix, maxBytes, p)
}

// testdata copies a package's testdata, if it has one.
func testdata(dir, to string) error {
	from := filepath.Join(dir, "testdata")
	if _, err := os.Stat(from); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return os.CopyFS(filepath.Join(to, "testdata"), os.DirFS(from))
}

// files copies the files of a folder, without those in folders of it.
func files(dir, to string) error {
	list, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range list {
		if e.Type().IsRegular() {
			if err := copyFile(filepath.Join(dir, e.Name()), filepath.Join(to, e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

func copyFile(from, to string) error {
	b, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, b, 0o644)
}

// goCommand runs go for the machine the bundle is for and returns what it prints.
func goCommand(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Env = append(os.Environ(), "GOOS=linux", "CGO_ENABLED=0")
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, errs.String())
	}
	return out.String(), nil
}

// steps are what is done with a bundle.
const steps = `On the machine:
  tar xf %[1]s || python3 -c 'import tarfile; tarfile.open("%[1]s").extractall()'
  %[2]s/run -o r        # nine minutes at most; the same again while it says that stages are left
Here, with the folder r brought home:
  go run ./cudart/internal/gpubench -record cudart/RESULTS.md -o r
`

// archive packs the folder. One that is too large for where it is to go is an error.
func archive(ctx context.Context, dir, file string, most int64, p packer) (err error) {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	z, err := p.pack(ctx, f)
	if err != nil {
		return err
	}
	t := tar.NewWriter(z)
	err = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		h, err := tar.FileInfoHeader(info, "")
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(filepath.Dir(dir), path)
		if err != nil {
			return err
		}
		h.Name = filepath.ToSlash(rel)
		if err := t.WriteHeader(h); err != nil {
			return err
		}
		in, err := os.Open(path)
		if err != nil {
			return err
		}
		defer in.Close()
		_, err = io.Copy(t, in)
		return err
	})
	for _, c := range []io.Closer{t, z, f} {
		if e := c.Close(); err == nil {
			err = e
		}
	}
	if err != nil {
		return err
	}
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	fmt.Printf("%s: %.1f MB; %s/README.md in it has all of what follows\n", file, float64(info.Size())/1e6, filepath.Base(dir))
	fmt.Printf(steps, filepath.Base(file), filepath.Base(dir))
	if info.Size() > most {
		return fmt.Errorf("%s has %d bytes, and may have %d", file, info.Size(), most)
	}
	return nil
}
