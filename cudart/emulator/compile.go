package emulator

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/cpu"
)

// A compiler is a C++ compiler of this machine.
type compiler struct{ path, version string }

// gccs and clangs are the names it may go by, besides what CXX says.
var (
	gccs   = []string{"g++", "c++"}
	clangs = []string{"clang++", "clang++-19", "clang++-18", "clang++-17", "clang++-16"}
)

// findCompiler returns the one to build with. PTX is written as megabytes of C++, which clang compiles in a third of g++'s time.
func findCompiler(ctx context.Context, o Options) (compiler, error) {
	names := slices.Concat(gccs[:1], clangs, gccs[1:])
	if o.PTX {
		names = slices.Concat(clangs, gccs)
	}
	if cxx := os.Getenv("CXX"); cxx != "" {
		names = append([]string{cxx}, names...)
	}
	for _, name := range names {
		path, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		out, err := exec.CommandContext(ctx, path, "--version").Output()
		if err != nil {
			continue
		}
		first, _, _ := strings.Cut(string(out), "\n")
		return compiler{path, first}, nil
	}
	return compiler{}, fmt.Errorf("%w: there is no C++ compiler (looked for %s); install one: apt-get install g++ on Debian and Ubuntu, dnf install gcc-c++ on Fedora",
		ErrUnavailable, strings.Join(names, ", "))
}

// flags are the compiler's options for every file. The kernels' bits are the CPU rows': products and sums are not fused but where a kernel
// says so, by fmaf. That is an instruction if the compiler may use it, and else a call of the library, which are a fifth of what walks take.
func flags(o Options) []string {
	f := []string{"-std=c++17", "-O2", "-g0", "-fPIC", "-pthread", "-fvisibility=hidden", "-fno-strict-aliasing", "-ffp-contract=off", "-fno-math-errno",
		"-U_FORTIFY_SOURCE", "-DHALFTONE_EMULATOR=1"}
	if cpu.X86.HasFMA {
		f = append(f, "-mfma")
	}
	if o.Checked {
		f = append(f, "-DHALFTONE_CHECK=1")
	}
	return f
}

// sanitizers find accesses beside what is allocated, and undefined behavior: signed overflow, shifts that are too far, addresses that are
// not aligned, integers divided by zero, numbers that their integer type does not hold, which devices and processors convert
// differently. -g1 gives lines in the reports. With -O0 these programs run half as fast again, but take half the time to compile, which is
// most of it by far.
var sanitizers = []string{"-fsanitize=address,undefined,float-cast-overflow", "-fno-sanitize-recover=undefined,float-cast-overflow", "-g1", "-O0"}

// SanitizerEnv returns the environment that a program needs which loads the library built with Sanitize: the sanitizer's runtime must be
// there before all else. A mistake ends the program with a report. The device's faults stay the emulator's to handle.
func SanitizerEnv(ctx context.Context) ([]string, error) {
	c, err := findCompiler(ctx, Options{Sanitize: true})
	if err != nil {
		return nil, err
	}
	arch := map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[runtime.GOARCH]
	for _, name := range []string{"libasan.so", "libclang_rt.asan-" + arch + ".so", "libclang_rt.asan.so"} {
		out, err := exec.CommandContext(ctx, c.path, "-print-file-name="+name).Output()
		if path := strings.TrimSpace(string(out)); err == nil && filepath.IsAbs(path) {
			return []string{"LD_PRELOAD=" + path, "ASAN_OPTIONS=detect_leaks=0:handle_segv=0:handle_sigbus=0:handle_sigfpe=0:handle_sigill=0:detect_stack_use_after_return=0",
				"UBSAN_OPTIONS=print_stacktrace=1"}, nil
		}
	}
	return nil, fmt.Errorf("%w: %s has no address sanitizer as a shared library", ErrUnavailable, c.path)
}

// kernelFlags are those of the kernels alone. The thread sanitizer's instrumentation tells the checks of each access; its own
// runtime is not linked, check.cpp is in its place.
func kernelFlags(o Options) []string {
	f := []string{"-Wno-unknown-pragmas", "-Wno-attributes", "-O1"} // with -O2 the many compile longer than they then save
	if o.PTX {
		f = append(f, "-O0") // runs half as fast, and compiles in a quarter of the time, which is most of it by far
	}
	if o.Checked {
		f = append(f, "-fsanitize=thread")
	}
	if o.Sanitize {
		f = append(f, sanitizers...)
	}
	return f
}

// build is one run of Build.
type build struct {
	compiler compiler
	options  Options
	dir      string // where it is built
	objects  string // compiled files of this and other builds, by what went into them
}

func (b *build) run(ctx context.Context, files []source) error {
	for _, f := range files {
		if filepath.Ext(f.path) == ".cu" {
			f.data = hostSource(f.data)
		}
		path := filepath.Join(b.dir, f.path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, f.data, 0o644); err != nil {
			return err
		}
	}
	var units []source // linked in this order
	for _, kind := range []string{".ptx", ".cu", ".cpp"} {
		for _, f := range files {
			if filepath.Ext(f.path) == kind {
				units = append(units, f)
			}
		}
	}
	objects := make([]string, len(units))
	longest := make([]int, len(units)) // those that take longest first
	for i := range units {
		longest[i] = i
	}
	slices.SortStableFunc(longest, func(i, j int) int {
		a, b := units[i], units[j]
		if isKernels(a.path) != isKernels(b.path) {
			return map[bool]int{true: -1, false: 1}[isKernels(a.path)]
		}
		return len(b.data) - len(a.data)
	})
	err := parallel(len(units), func(n int) (err error) {
		i := longest[n]
		objects[i], err = b.object(ctx, files, units[i])
		return err
	})
	if err != nil {
		return err
	}
	return b.link(ctx, objects)
}

// object compiles one file, unless a build before has done it, and returns the object's path; "" if there is nothing in it.
func (b *build) object(ctx context.Context, files []source, f source) (string, error) {
	options, name := b.objectOf(files, f)
	object := filepath.Join(b.objects, name)
	if info, err := os.Stat(object); err == nil {
		if info.Size() == 0 {
			return "", nil
		}
		now := time.Now()
		_ = os.Chtimes(object, now, now) // still in use
		return object, nil
	}
	path := filepath.Join(b.dir, f.path)
	made := path + ".o"
	if isKernels(f.path) {
		unit := b.unit
		if filepath.Ext(f.path) == ".ptx" {
			unit = ptxUnit
		}
		wrapper, err := unit(ctx, path)
		if err != nil {
			return "", err
		}
		if wrapper == "" {
			return "", os.WriteFile(object, nil, 0o644)
		}
		path = wrapper
	}
	args := append(options, "-I", filepath.Join(b.dir, "csrc"), "-I", filepath.Dir(path), "-c", path, "-o", made)
	if err := b.command(ctx, args...); err != nil {
		return "", err
	}
	return object, os.Rename(made, object)
}

// unit writes the file that compiles a .cu and ends in the table of its kernels. It returns "" if there are none.
func (b *build) unit(ctx context.Context, path string) (string, error) {
	names, err := b.scan(ctx, path)
	if err != nil || len(names) == 0 {
		return "", err
	}
	var w strings.Builder
	fmt.Fprintf(&w, "#include \"kernel.h\"\n#include \"device.h\"\n#include %q\nstatic const emu::Kernel kernels[] = {\n", filepath.Base(path))
	for _, n := range names {
		fmt.Fprintf(&w, "  HALFTONE_EMULATED_KERNEL(%s, 0),\n", n)
	}
	w.WriteString("};\nstatic emu::Table table{kernels, sizeof kernels / sizeof kernels[0], nullptr};\nstatic const bool added = (emu::addTable(&table), true);\n")
	wrapper := strings.TrimSuffix(path, ".cu") + ".unit.cpp"
	return wrapper, os.WriteFile(wrapper, []byte(w.String()), 0o644)
}

var (
	kernelPattern = regexp.MustCompile(`halftone_global\s+void\s+(?:halftone_bounds\([^)]*\)\s*)?(\w+)\s*\(`)
	// Dynamic shared memory inside of a function: a pointer to what the launch gives, under whatever name and type.
	dynamicPattern = regexp.MustCompile(`extern\s+__shared__\s+((?:\w+\s+)+)(\w+)\s*\[\s*\]\s*;`)
)

// hostSource is a .cu as a C++ compiler takes it; lines keep their numbers.
func hostSource(cu []byte) []byte {
	return dynamicPattern.ReplaceAll(cu, []byte("$1* const $2 = reinterpret_cast<$1*>(emu::current->dynamicShared);"))
}

// scan lists the kernels of a file, those that macros make too: they are looked for in what the preprocessor gives.
func (b *build) scan(ctx context.Context, path string) ([]string, error) {
	args := append(flags(b.options), "-DHALFTONE_SCAN=1", "-I", filepath.Join(b.dir, "csrc"), "-include", "device.h", "-E", "-P", "-x", "c++", path)
	cmd := exec.CommandContext(ctx, b.compiler.path, args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("emulator: %s %s: %w\n%s", filepath.Base(b.compiler.path), filepath.Base(path), err, errs.String())
	}
	var names []string
	for _, m := range kernelPattern.FindAllStringSubmatch(out.String(), -1) {
		names = append(names, m[1])
	}
	return names, nil
}

func (b *build) link(ctx context.Context, objects []string) error {
	args := flags(b.options)
	if b.options.Sanitize {
		args = append(args, sanitizers...)
	}
	args = append(args, "-shared", "-o", filepath.Join(b.dir, "libcuda.so.1"), "-Wl,-z,nodelete", "-Wl,-Bsymbolic")
	for _, o := range objects {
		if o != "" {
			args = append(args, o)
		}
	}
	if err := b.command(ctx, append(args, "-ldl")...); err != nil {
		return err
	}
	// The same file under the names of the other libraries that it stands in for.
	for _, name := range []string{"libcublas.so.13", "libcublasLt.so.13", "libnvrtc.so.13", "libcudnn.so.9"} {
		if err := os.Symlink("libcuda.so.1", filepath.Join(b.dir, name)); err != nil {
			return err
		}
	}
	// What NVRTC's stand-in compiles with.
	flags := append(flags(b.options), kernelFlags(b.options)...)
	text := b.compiler.path + "\n" + strings.Join(flags, "\n") + "\n"
	return os.WriteFile(filepath.Join(b.dir, "compiler.txt"), []byte(text), 0o644)
}

func (b *build) command(ctx context.Context, args ...string) error {
	cmd := exec.CommandContext(ctx, b.compiler.path, args...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		text := strings.ReplaceAll(string(out), b.dir+string(filepath.Separator), "")
		return fmt.Errorf("emulator: %s: %w\n%s", filepath.Base(b.compiler.path), err, firstLines(text, 40))
	}
	return nil
}

// firstLines keeps a compiler's first complaints; what follows mostly comes of them.
func firstLines(s string, n int) string {
	lines := strings.SplitAfter(s, "\n")
	if len(lines) <= n {
		return s
	}
	return strings.Join(lines[:n], "") + fmt.Sprintf("… and %d lines more\n", len(lines)-n)
}

// parallel runs n jobs, as many at once as there are processors.
func parallel(n int, job func(i int) error) error {
	errs := make([]error, n)
	next := make(chan int)
	var wg sync.WaitGroup
	for range min(runtime.NumCPU(), n) {
		wg.Go(func() {
			for i := range next {
				errs[i] = job(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	wg.Wait()
	return errors.Join(errs...)
}
