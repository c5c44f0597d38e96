package install

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/halftone-ml/halftone/kernelext/layout"
)

func TestKernelspec(t *testing.T) {
	dir := isolate(t)
	l, _ := layout.Default()
	data := filepath.Join(dir, "jupyter")
	if changed, err := installKernelspec(l, data); err != nil || !changed {
		t.Fatalf("changed %v, %v", changed, err)
	}
	if changed, err := installKernelspec(l, data); err != nil || changed {
		t.Fatalf("the second time: changed %v, %v", changed, err)
	}
	b, err := os.ReadFile(filepath.Join(data, "kernels", "halftone", "kernel.json"))
	if err != nil {
		t.Fatal(err)
	}
	var spec struct {
		Argv          []string
		DisplayName   string `json:"display_name"`
		Language      string
		InterruptMode string `json:"interrupt_mode"`
		Env           map[string]string
	}
	if err := json.Unmarshal(b, &spec); err != nil {
		t.Fatal(err)
	}
	if spec.DisplayName != "Go (AMP)" || spec.Language != "go" || spec.InterruptMode != "message" || spec.Env[layout.HomeEnv] != l.Home ||
		len(spec.Argv) != 3 || spec.Argv[0] != l.Halftone() || spec.Argv[1] != "kernel" || spec.Argv[2] != "{connection_file}" {
		t.Errorf("kernel.json is\n%s", b)
	}
	for _, logo := range []string{"logo-32x32.png", "logo-64x64.png", "logo-svg.svg"} {
		if _, err := os.Stat(filepath.Join(data, "kernels", "halftone", logo)); err != nil {
			t.Error(err)
		}
	}
	if there, ours := ownKernelspec(layout.Layout{Home: "/another"}, data); !there || ours {
		t.Error("a kernelspec of one installation passes for another's")
	}
}

func TestFrontEnd(t *testing.T) {
	dir := isolate(t)
	l, _ := layout.Default()
	data := filepath.Join(dir, "jupyter")
	if status, _ := frontEndState(data); status != Missing {
		t.Errorf("before: %s", status)
	}
	write(t, filepath.Join(frontEndDir(data), "static", "old.js"), "from an older version")
	if changed, err := installFrontEnd(l, data); err != nil || !changed {
		t.Fatalf("changed %v, %v", changed, err)
	}
	if _, err := os.Stat(filepath.Join(frontEndDir(data), "static", "old.js")); !errors.Is(err, fs.ErrNotExist) {
		t.Error("a file of an older version stayed")
	}
	if status, detail := frontEndState(data); status != OK {
		t.Errorf("installed: %s, %s", status, detail)
	}
	if changed, err := installFrontEnd(l, data); err != nil || changed {
		t.Fatalf("the second time: changed %v, %v", changed, err)
	}
	if err := os.Truncate(filepath.Join(frontEndDir(data), "static", "echarts.min.js"), 10); err != nil {
		t.Fatal(err)
	}
	if status, detail := frontEndState(data); status != Broken || !strings.Contains(detail, "echarts.min.js") {
		t.Errorf("damaged: %s, %s", status, detail)
	}
}

func TestUninstall(t *testing.T) {
	dir := isolate(t)
	l, _ := layout.Default()
	if removed, err := Uninstall(l); err != nil || len(removed) != 0 {
		t.Fatalf("with nothing installed: %v, %v", removed, err)
	}
	data := filepath.Join(dir, "jupyter")
	other := filepath.Join(data, "kernels", "python3", "kernel.json")
	write(t, other, "{}")
	if _, err := installKernelspec(l, data); err != nil {
		t.Fatal(err)
	}
	if _, err := installFrontEnd(l, data); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(l.Bin(), "gonb"), "")
	if _, err := labConfig(l.Home); err != nil {
		t.Fatal(err)
	}
	readOnly := filepath.Join(l.Proxy(), "a", "b")
	write(t, filepath.Join(readOnly, "f"), "")
	if err := os.Chmod(readOnly, 0o555); err != nil {
		t.Fatal(err)
	}
	if err := l.Save(layout.State{Data: data}); err != nil {
		t.Fatal(err)
	}
	removed, err := Uninstall(l)
	if err != nil || len(removed) != 3 {
		t.Fatalf("removed %v, %v", removed, err)
	}
	for _, gone := range []string{l.Home, filepath.Join(data, "kernels", "halftone"), filepath.Join(data, "labextensions", "@halftone")} {
		if _, err := os.Stat(gone); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is still there", gone)
		}
	}
	if _, err := os.Stat(other); err != nil {
		t.Errorf("another kernel was removed: %v", err)
	}
}

func TestUninstallSparesOtherFolders(t *testing.T) {
	dir := isolate(t)
	l, _ := layout.Default()
	// HALFTONE_HOME that names a folder with the user's own things.
	write(t, filepath.Join(l.Home, "thesis.tex"), "years of work")
	if _, err := Uninstall(l); err == nil || !strings.Contains(err.Error(), "does not look like") {
		t.Errorf("error %v", err)
	}
	if _, err := os.Stat(filepath.Join(l.Home, "thesis.tex")); err != nil {
		t.Error("the user's file is gone")
	}
	// A kernelspec of the same name that starts another installation.
	data := filepath.Join(dir, "jupyter")
	if _, err := installKernelspec(layout.Layout{Home: "/another"}, data); err != nil {
		t.Fatal(err)
	}
	if removed, err := removeFrom(l, data); err != nil || len(removed) != 0 {
		t.Errorf("removed %v, %v", removed, err)
	}
}

func TestFingerprintFollowsContent(t *testing.T) {
	in, _ := func() (*Installer, any) { isolate(t); i, o := newInstaller(t); return i, o }()
	print := func() string {
		t.Helper()
		s, err := Fingerprint(in.Checkout)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	file := filepath.Join(in.Checkout, "amp", "a.go")
	write(t, file, "package amp")
	first := print()
	if err := os.Chtimes(file, time.Now(), time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(in.Checkout, "amp", "a_test.go"), "package amp")
	write(t, filepath.Join(in.Checkout, "amp", "testdata", "x"), "1")
	write(t, filepath.Join(in.Checkout, "notebooks", "a.ipynb"), "{}")
	if print() != first {
		t.Error("times, tests or notebooks change the fingerprint")
	}
	write(t, file, "package amp // edited")
	if print() == first {
		t.Error("an edited source does not change the fingerprint")
	}
	write(t, file, "package amp")
	write(t, filepath.Join(in.Checkout, "kernelext", "notebook", "run.py"), "embedded")
	if print() == first {
		t.Error("an embedded file does not change the fingerprint")
	}
}

func TestFindCheckout(t *testing.T) {
	isolate(t)
	in, _ := newInstaller(t)
	deep := filepath.Join(in.Checkout, "notebooks", "drafts")
	if err := os.MkdirAll(deep, 0o755); err != nil {
		t.Fatal(err)
	}
	if dir, err := FindCheckout(deep); err != nil || dir != in.Checkout {
		t.Errorf("from a folder within: %s, %v", dir, err)
	}
	if _, err := FindCheckout(t.TempDir()); err == nil || !strings.Contains(err.Error(), "--checkout") {
		t.Errorf("outside: %v", err)
	}
	// A nested module of ours is not the checkout.
	write(t, filepath.Join(deep, "go.mod"), "module "+Module+"/kernelext/tools\n")
	if dir, err := FindCheckout(deep); err != nil || dir != in.Checkout {
		t.Errorf("from a nested module: %s, %v", dir, err)
	}
}

func TestMovedCheckoutSaysWhatToDo(t *testing.T) {
	isolate(t)
	in, _ := newInstaller(t)
	state := layout.State{Checkout: in.Checkout}
	if _, err := InstalledCheckout(state); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(in.Checkout, in.Checkout+"-moved"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(in.Checkout + "-moved") })
	_, err := InstalledCheckout(state)
	if err == nil || !strings.Contains(err.Error(), in.Checkout) || !strings.Contains(err.Error(), "make lab") {
		t.Errorf("error %v", err)
	}
}

func TestStableGoPrefersTheLink(t *testing.T) {
	dir := t.TempDir()
	cellar := filepath.Join(dir, "Cellar", "go", "1.26.3", "libexec", "bin", "go")
	script(t, cellar, "#!/bin/sh\n")
	link := filepath.Join(dir, "bin", "go")
	if err := os.MkdirAll(filepath.Dir(link), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(cellar, link); err != nil {
		t.Fatal(err)
	}
	// go run puts GOROOT's own folder in front.
	path := filepath.Dir(cellar) + string(os.PathListSeparator) + filepath.Dir(link)
	if got := stableGo(cellar, path); got != link {
		t.Errorf("chose %s", got)
	}
	other := filepath.Join(dir, "other", "go")
	script(t, other, "#!/bin/sh\n")
	if got := stableGo(cellar, filepath.Dir(other)); got != cellar {
		t.Errorf("chose another Go: %s", got)
	}
}

func TestMissingOrOldGo(t *testing.T) {
	isolate(t)
	in, _ := newInstaller(t)
	bin := t.TempDir()
	t.Setenv("PATH", bin)
	if _, _, err := FindGo(context.Background(), in.Checkout); err == nil || !strings.Contains(err.Error(), "install Go 1.26") {
		t.Errorf("without Go: %v", err)
	}
	script(t, filepath.Join(bin, "go"), "#!/bin/sh\necho 'go: go.mod requires go >= 1.26 (running go 1.22.1; GOTOOLCHAIN=local)' >&2\nexit 1\n")
	if _, _, err := FindGo(context.Background(), in.Checkout); err == nil || !strings.Contains(err.Error(), "running go 1.22.1") || !strings.Contains(err.Error(), "GOTOOLCHAIN=auto") {
		t.Errorf("with an old Go: %v", err)
	}
	script(t, filepath.Join(bin, "go"), "#!/bin/sh\necho go1.25.3\necho /usr/lib/go\n")
	if _, _, err := FindGo(context.Background(), in.Checkout); err == nil || !strings.Contains(err.Error(), "is go1.25.3") {
		t.Errorf("with Go 1.25: %v", err)
	}
}

func TestGuardLetsOneInAtATime(t *testing.T) {
	home := t.TempDir()
	var out strings.Builder
	rep := NewReporter(&out)
	release, err := guard(context.Background(), home, rep)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	if _, err := guard(ctx, home, rep); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("a second installation got in: %v", err)
	}
	if !strings.Contains(out.String(), "Another installation is running (process ") {
		t.Errorf("the user is not told: %q", out.String())
	}
	go func() { time.Sleep(100 * time.Millisecond); release() }()
	again, err := guard(context.Background(), home, rep)
	if err != nil {
		t.Fatal(err)
	}
	again()
}

func TestFailuresSayWhatToDo(t *testing.T) {
	for name, c := range map[string]struct {
		err    error
		output string
		want   string
	}{
		"disk full":   {syscall.ENOSPC, "", "The disk is full"},
		"disk full 2": {errors.New("exit status 1"), "ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device", "The disk is full"},
		"read-only":   {&fs.PathError{Op: "mkdir", Path: "/x", Err: syscall.EROFS}, "", "read-only"},
		"permission":  {&fs.PathError{Op: "mkdir", Path: "/x", Err: syscall.EACCES}, "", "You may not write there"},
		"no network":  {errors.New("exit status 1"), "dial tcp: lookup proxy.example: no such host", "Check the network"},
		"no pip net":  {errors.New("exit status 1"), "ERROR: No matching distribution found for anyio==4.16.0", "Check the network"},
		"hash":        {errors.New("exit status 1"), "ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE", "pinned checksum"},
	} {
		t.Run(name, func(t *testing.T) {
			err := explain("doing it", "/home/u/halftone", c.err, c.output)
			if !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "doing it: ") {
				t.Errorf("%v", err)
			}
			if !errors.Is(err, c.err) {
				t.Error("the cause is lost")
			}
			if again := explain("outer", "", err, ""); again != err {
				t.Errorf("wrapped twice: %v", again)
			}
		})
	}
}

func TestFailuresShowWhatMatters(t *testing.T) {
	output := "Collecting a\n" + strings.Repeat("  Downloading b\n", 50) + "ERROR: it broke " + strings.Repeat("x", 1000) + "\nInstalling collected packages\n"
	text := explain("doing it", "/h", errors.New("exit status 1"), output).Error()
	if !strings.Contains(text, "ERROR: it broke") || strings.Contains(text, "Downloading") || len(text) > 500 {
		t.Errorf("%s", text)
	}
	if text := explain("doing it", "/h", errors.New("exit status 1"), "one\ntwo\n").Error(); !strings.Contains(text, "one\n    two") {
		t.Errorf("%s", text)
	}
}

func TestReadOnlyHome(t *testing.T) {
	if os.Geteuid() == 0 {
		// Root may write anywhere: a file in the place of a folder is the closest failure.
		home := filepath.Join(t.TempDir(), "file")
		write(t, home, "")
		if _, err := guard(context.Background(), filepath.Join(home, "halftone"), NewReporter(&strings.Builder{})); err == nil {
			t.Error("no error")
		}
		return
	}
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o555); err != nil {
		t.Fatal(err)
	}
	_, err := guard(context.Background(), filepath.Join(dir, "halftone"), NewReporter(&strings.Builder{}))
	if err == nil || !strings.Contains(err.Error(), "HALFTONE_HOME") {
		t.Errorf("error %v", err)
	}
}

func TestCancelledCommandIsStoppedWithItsChildren(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	pid := make(chan string, 1)
	go func() { <-pid; cancel() }()
	began := time.Now()
	cmd := exec.Command("sh", "-c", "sleep 60 & echo $!; wait")
	var child string
	_, err := run(ctx, cmd, func(line string) { child = line; pid <- line })
	if !errors.Is(err, context.Canceled) || time.Since(began) > 10*time.Second {
		t.Fatalf("%v after %v", err, time.Since(began))
	}
	time.Sleep(100 * time.Millisecond)
	for _, p := range processes() {
		if child == itoa(p.pid) {
			t.Errorf("child %s is still running", child)
		}
	}
}

func itoa(n int) string { b, _ := json.Marshal(n); return string(b) }
