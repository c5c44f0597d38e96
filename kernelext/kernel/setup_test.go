package kernel

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/halftone-ml/halftone/internal/testsignal"
	"github.com/halftone-ml/halftone/kernelext/cellgo"
	"github.com/halftone-ml/halftone/kernelext/layout"
	"github.com/halftone-ml/halftone/kernelext/magic"
	"github.com/halftone-ml/halftone/kernelext/wire"
	"github.com/halftone-ml/halftone/widgets/render"
)

// The tests drive a real kernel, a process of its own, over ZMQ, with the real GoNB behind it. That process is this test
// binary again.
const (
	serveEnv = "KERNEL_TEST_SERVE" // connection file
	homeEnv  = "KERNEL_TEST_HOME"
	drawEnv  = "KERNEL_TEST_DRAW"

	driverEnv = "KERNEL_TEST_DRIVER" // whether there is a GPU's: "yes", "no", or as it is

	doctorEnv = "KERNEL_TEST_DOCTOR" // how long it takes
)

var (
	checkout string // root of the module
	toolsDir string // built gonb, goimports and gopls
	proxyDir string // of modules
)

func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "go" { // Options.Go
		os.Exit(cellgo.Main())
	}
	if file := os.Getenv(serveEnv); file != "" {
		os.Exit(serve(file))
	}
	if err := prepare(); err != nil {
		fmt.Fprintln(os.Stderr, "preparing the kernel's tests:", err)
		os.Exit(1)
	}
	testsignal.Restore()
	os.Exit(m.Run())
}

func prepare() error {
	wd, err := os.Getwd()
	if err != nil {
		return err
	}
	checkout = filepath.Dir(filepath.Dir(wd))
	if toolsDir, err = buildTools(filepath.Join(checkout, "kernelext", "tools")); err != nil {
		return err
	}
	proxyDir = filepath.Join(filepath.Dir(toolsDir), "goproxy")
	return wire.BuildProxy(proxyDir, checkout, "go")
}

// buildTools builds the pinned programs once for each set of pins and Go, into the user's cache.
func buildTools(src string) (string, error) {
	sum := sha256.New()
	for _, name := range []string{"go.mod", "go.sum", "gopls/go.mod", "gopls/go.sum"} {
		b, err := os.ReadFile(filepath.Join(src, name))
		if err != nil {
			return "", err
		}
		sum.Write(b)
	}
	sum.Write([]byte(runtime.Version()))
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	dir := filepath.Join(cache, "halftone-test", fmt.Sprintf("tools-%x", sum.Sum(nil)[:6]))
	if _, err := os.Stat(filepath.Join(dir, "gopls")); err == nil {
		return dir, nil
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return "", err
	}
	tmp, err := os.MkdirTemp(filepath.Dir(dir), "new")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(tmp)
	for _, b := range [][]string{
		{"", "github.com/janpfeifer/gonb", "golang.org/x/tools/cmd/goimports"},
		{"gopls", "golang.org/x/tools/gopls"},
	} {
		// With the flags of an installation, which has compiled their packages when all tests run.
		args := append([]string{"build", "-C", filepath.Join(src, b[0]), "-mod=readonly", "-ldflags=-s -w", "-o", tmp + "/"}, b[1:]...)
		cmd := exec.Command("go", args...)
		cmd.Env = append(os.Environ(), "GOWORK=off", "CGO_ENABLED=0", "GOFLAGS=-buildvcs=false "+wire.NoDebugData)
		if out, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("%s: %w\n%s", cmd, err, out)
		}
	}
	if err := os.Rename(tmp, dir); err != nil { // another test may have been faster
		if _, statErr := os.Stat(filepath.Join(dir, "gopls")); statErr != nil {
			return "", err
		}
	}
	return dir, nil
}

// serve is main of the kernel process.
func serve(file string) int {
	l := layout.Layout{Home: os.Getenv(homeEnv)}
	s := layout.State{Checkout: checkoutOf(l)}
	s.Go, _ = exec.LookPath("go")
	self, _ := os.Executable()
	opts := Options{GoNB: l.GoNB(), Go: self, Checkout: s.Checkout, Env: wire.Env(l, s, os.Environ()), Tmp: l.Tmp(), Version: "test", Draw: testDraw, Doctor: testDoctor, Log: os.Stderr}
	if d := os.Getenv(driverEnv); d != "" {
		opts.Driver = func() bool { return d == "yes" }
	}
	if err := Run(context.Background(), file, opts); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// testDoctor takes its time, as the real one does; it can be interrupted.
func testDoctor(ctx context.Context) ([]magic.Check, error) {
	d, _ := time.ParseDuration(os.Getenv(doctorEnv))
	select {
	case <-time.After(d):
		return []magic.Check{{Name: "Go", Version: "1.26", Status: "ok"}, {Name: "gonb", Status: "bad", Detail: "gone", Fix: "install"}}, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func checkoutOf(l layout.Layout) string {
	s, err := l.Load()
	if err != nil {
		panic(err)
	}
	return s.Checkout
}

func testDraw(raw []byte) (map[string]any, error) {
	switch os.Getenv(drawEnv) {
	case "real":
		return render.BundleJSON(raw)
	case "error":
		return nil, errors.New("no ink")
	case "panic":
		panic("no paper")
	}
	var v struct {
		Sleep int `json:"sleep_ms"`
	}
	if err := json.Unmarshal(raw, &v); err != nil {
		return nil, err
	}
	time.Sleep(time.Duration(v.Sleep) * time.Millisecond)
	return map[string]any{"text/html": "<b>" + string(raw) + "</b>", "image/svg+xml": "<svg/>", "image/png": "aGk="}, nil
}

// home makes an installation for tests. Its path is short: sockets are made below it.
func home(t *testing.T) layout.Layout {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "ht")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	l := layout.Layout{Home: dir}
	for to, from := range map[string]string{l.Bin(): toolsDir, l.Proxy(): proxyDir} {
		if err := os.Symlink(from, to); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Save(layout.State{Checkout: checkout}); err != nil {
		t.Fatal(err)
	}
	return l
}

// A server is a kernel process under test.
type server struct {
	*client
	t      *testing.T
	layout layout.Layout
	cmd    *exec.Cmd
	exited chan struct{}
	log    *tail
	id     string // in the name of the connection file
}

// startKernel starts a kernel with more environment and returns when it has answered.
func startKernel(t *testing.T, l layout.Layout, env ...string) *server {
	t.Helper()
	conn, file := connectionFile(t)
	return startKernelOn(t, l, conn, file, env...)
}

// startKernelOn does the same with a connection file.
func startKernelOn(t *testing.T, l layout.Layout, conn connection, file string, env ...string) *server {
	t.Helper()
	s := &server{t: t, layout: l, exited: make(chan struct{}), log: &tail{}, id: kernelID(filepath.Base(file))}
	s.cmd = exec.Command(os.Args[0])
	s.cmd.Env = append(os.Environ(), serveEnv+"="+file, homeEnv+"="+l.Home, fmt.Sprintf("%s=%d", parentEnv, os.Getpid()))
	s.cmd.Env = append(s.cmd.Env, env...)
	s.cmd.Stdout, s.cmd.Stderr = s.log, s.log
	s.cmd.Dir = t.TempDir()
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // as Jupyter does
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { _ = s.cmd.Wait(); close(s.exited) }()
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("kernel's log:\n%s", s.log)
		}
		_ = s.cmd.Process.Signal(syscall.SIGTERM)
		s.waitExit()
	})
	s.client = dial(t, conn)
	s.ready()
	return s
}

func connectionFile(t *testing.T) (connection, string) {
	t.Helper()
	ports := freePorts(t, 5)
	c := connection{
		ShellPort: ports[0], ControlPort: ports[1], StdinPort: ports[2], IOPubPort: ports[3], HBPort: ports[4],
		IP: "127.0.0.1", Transport: "tcp", Key: newID(), SignatureScheme: "hmac-sha256",
	}
	b, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "kernel-"+newID()+".json")
	if err := os.WriteFile(file, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return c, file
}

// waitExit waits for the kernel process to end by itself.
func (s *server) waitExit() {
	s.t.Helper()
	select {
	case <-s.exited:
	case <-time.After(time.Minute):
		_ = s.cmd.Process.Kill()
		<-s.exited
		s.t.Errorf("the kernel did not end; its log:\n%s", s.log)
	}
}

// gonb returns the process id of the running GoNB.
func (s *server) gonb() int {
	s.t.Helper()
	for _, p := range processes() {
		if p.parent == s.cmd.Process.Pid && p.name == "gonb" {
			return p.pid
		}
	}
	s.t.Fatal("no GoNB is running")
	return 0
}

// nothingLeft checks that no process and no file of the kernel remains. Every process of it has the private folder in its
// command line or environment, or is in GoNB's session.
func nothingLeft(t *testing.T, l layout.Layout, session int) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for {
		var left []string
		for _, p := range sessionMembers(session) {
			if session == 0 {
				break
			}
			left = append(left, fmt.Sprintf("process %d %s", p.pid, p.name))
		}
		for _, p := range processes() {
			for _, file := range []string{"cmdline", "environ"} {
				b, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", p.pid, file))
				if err == nil && strings.Contains(string(b), l.Tmp()+"/") {
					left = append(left, fmt.Sprintf("process %d %s (%s)", p.pid, p.name, file))
				}
			}
		}
		files, _ := filepath.Glob(filepath.Join(l.Tmp(), "*"))
		left = append(left, files...)
		if len(left) == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Errorf("left behind: %v", left)
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}
