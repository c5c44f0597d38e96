package drivertest

import (
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/cudart/driver"
)

// start runs the test binary again as one of child's parts, with arguments in the environment and files from descriptor 3 on.
func (s *suite) start(t *testing.T, part string, args string, files ...*os.File) string {
	t.Helper()
	exe, err := os.Executable()
	check(t, err)
	cmd := exec.CommandContext(t.Context(), exe)
	cmd.Env = append(os.Environ(), childEnv+"="+part, argsEnv+"="+args, libraryEnv+"="+s.d.Path())
	cmd.ExtraFiles = files
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", part, err, out)
	}
	return string(out)
}

// child is the other process: it says on standard output what it saw.
func child(part string, open func() (driver.Driver, error)) int {
	fail := func(err error) int {
		fmt.Println(err)
		return 1
	}
	d, err := open()
	if err != nil {
		return fail(err)
	}
	dev, err := d.Device(0)
	if err != nil {
		return fail(err)
	}
	ctx, err := d.RetainContext(dev)
	if err != nil {
		return fail(err)
	}
	parts := map[string]func(driver.Driver, driver.Device, string) error{"import": importPart, "ipc": ipcPart, "trap": trapPart}
	if err := driver.Do(d, ctx, func() error { return parts[part](d, dev, os.Getenv(argsEnv)) }); err != nil {
		return fail(err)
	}
	return 0
}

// exported: another process reads and writes memory by its descriptor, and the memory outlives that process.
func exported(t *testing.T, s *suite) {
	s.bind(t)
	sh, err := s.d.Export(s.dev, 5000)
	if !s.supported(t, "export", err) {
		return
	}
	if sh.Bytes < 5000 || sh.Ptr == 0 {
		t.Fatalf("%+v", sh)
	}
	check(t, s.d.CopyHtoD(sh.Ptr, []byte("from the parent")), s.d.Sync())
	fd, err := s.d.ExportFD(sh)
	check(t, err)
	f := os.NewFile(uintptr(fd), "exported memory")
	for range 2 { // the child ends without cleaning up, and another one comes
		if out := s.start(t, "import", fmt.Sprint(sh.Bytes), f); out != "from the parent\n" {
			t.Errorf("the child read %q", out)
		}
		back := make([]byte, 14)
		check(t, s.d.CopyDtoH(back, sh.Ptr+4096))
		if string(back) != "from the child" {
			t.Errorf("the parent read %q", back)
		}
		check(t, s.d.Memset8(sh.Ptr+4096, 0, 14, 0), s.d.Sync())
	}
	check(t, f.Close(), s.d.ReleaseShared(sh))

	// Its own descriptor works as well: this is how memory is mapped twice.
	sh, err = s.d.Export(s.dev, 1)
	check(t, err)
	fd, err = s.d.ExportFD(sh)
	check(t, err)
	twin, err := s.d.Import(s.dev, fd, sh.Bytes)
	check(t, err, os.NewFile(uintptr(fd), "exported memory").Close(), s.d.Memset32(twin.Ptr, 77, 1, 0), s.d.Sync())
	if got := s.word(t, sh.Ptr); got != 77 {
		t.Errorf("the other mapping shows %d", got)
	}
	check(t, s.d.ReleaseShared(twin), s.d.ReleaseShared(sh))
	if _, err := s.d.Import(s.dev, -1, 1<<21); err == nil {
		t.Error("no descriptor was imported")
	}
}

func importPart(d driver.Driver, dev driver.Device, args string) error {
	var n uint64
	if _, err := fmt.Sscan(args, &n); err != nil {
		return err
	}
	sh, err := d.Import(dev, 3, n)
	if err != nil {
		return err
	}
	b := make([]byte, len("from the parent"))
	if err := errors.Join(d.CopyDtoH(b, sh.Ptr), d.CopyHtoD(sh.Ptr+4096, []byte("from the child")), d.Sync()); err != nil {
		return err
	}
	fmt.Println(string(b))
	return nil
}

func ipc(t *testing.T, s *suite) {
	s.bind(t)
	p := s.alloc(t, 1<<20)
	h, err := s.d.IPCHandle(p)
	if !s.supported(t, "ipc", err) {
		return
	}
	check(t, s.d.CopyHtoD(p, []byte("from the parent")), s.d.Sync())
	if out := s.start(t, "ipc", hex.EncodeToString(h[:])); out != "from the parent\n" {
		t.Errorf("the child read %q", out)
	}
	back := make([]byte, 14)
	check(t, s.d.CopyDtoH(back, p+4096))
	if string(back) != "from the child" {
		t.Errorf("the parent read %q", back)
	}
}

func ipcPart(d driver.Driver, _ driver.Device, args string) error {
	var h driver.IPCHandle
	if _, err := hex.Decode(h[:], []byte(args)); err != nil {
		return err
	}
	p, err := d.OpenIPC(h)
	if err != nil {
		return err
	}
	b := make([]byte, len("from the parent"))
	if err := errors.Join(d.CopyDtoH(b, p), d.CopyHtoD(p+4096, []byte("from the child")), d.Sync(), d.CloseIPC(p)); err != nil {
		return err
	}
	fmt.Println(string(b))
	return nil
}

// lost: a kernel that fails takes the context with it; errors say so, and name it.
func lost(t *testing.T, s *suite) {
	out := s.start(t, "trap", "")
	for _, want := range []string{"bad_op: drivertest_trap", "good_op: drivertest_empty", "lost: true", "again: true"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in:\n%s", want, out)
		}
	}
	// This process's context is another one.
	s.bind(t)
	s.alloc(t, 64)
	check(t, s.d.Sync())
}

func trapPart(d driver.Driver, _ driver.Device, _ string) error {
	m, _, err := d.LoadModule(PTX, driver.JIT{})
	if err != nil {
		return err
	}
	empty, err := d.Function(m, "drivertest_empty")
	if err != nil {
		return err
	}
	trap, err := d.Function(m, "drivertest_trap")
	if err != nil {
		return err
	}
	st, err := d.NewStream()
	if err != nil {
		return err
	}
	good, bad := driver.GetArgs("good_op"), driver.GetArgs("bad_op").Int32(1)
	if err := errors.Join(d.Launch(empty, one, one, 0, st, good), d.SyncStream(st), d.Launch(trap, one, one, 0, st, bad)); err != nil {
		return err
	}
	err = d.SyncStream(st)
	fmt.Println(err)
	fmt.Println("lost:", errors.Is(err, driver.ErrLost))
	_, err = d.Alloc(64)
	fmt.Println("again:", errors.Is(err, driver.ErrLost))
	return nil
}
