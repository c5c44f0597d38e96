package store

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
)

// bounded is run in a process of its own, whose limits it sets. It adds an object that fits, one that does not, and goes on with the first.
const boundedEnv = "STORE_TEST_BOUNDED"

func init() {
	spec, ok := os.LookupEnv(boundedEnv)
	if !ok {
		return
	}
	kind, path, _ := strings.Cut(spec, ":")
	if err := bounded(kind, path); err != nil {
		fmt.Println("FAILED:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

const tooMuch = 80 << 20

func bounded(kind, path string) error {
	limit := func(what int, n uint64) error {
		return syscall.Setrlimit(what, &syscall.Rlimit{Cur: n, Max: n})
	}
	var err error
	switch kind {
	case "tmpfs": // in namespaces of its own: Docker's /dev/shm
		err = syscall.Mount("tmpfs", path, "tmpfs", 0, "size=64m")
		path = filepath.Join(path, "store")
	case "fsize":
		err = limit(syscall.RLIMIT_FSIZE, 64<<20)
	case "shm": // memory without a name is not bounded by /dev/shm
		if err = syscall.Mount("tmpfs", "/dev/shm", "tmpfs", 0, "size=64m"); err == nil {
			var o *Owner
			if o, err = NewOwner(path); err == nil {
				path = o.Path()
			}
		}
	}
	if err != nil {
		return err
	}
	s, err := Create(path)
	if err != nil {
		return err
	}
	large := func(name string, size int64) error {
		t := &Tensor{Name: "t", DType: "bool", Shape: []int{int(size)}, Size: size}
		if err := s.Room("", size); err != nil {
			return err
		}
		return s.Add(&Object{Name: name, Kind: KindTensor}, []*Tensor{t}, &thing{}, false, func() error {
			for i := range t.Block().Bytes() { // every page is there
				t.Block().Bytes()[i] = 1
			}
			return t.Block().save()
		})
	}
	if err := large("fits", 8<<20); err != nil {
		return err
	}
	if kind == "vsize" {
		const room = 64 << 20 // of addresses beyond those in use; the file system need not have much room for this
		used, err := addressSpace()
		if err != nil {
			return err
		}
		if err := limit(syscall.RLIMIT_AS, used+room); err != nil {
			return err
		}
		if err := large("address space", 2*room); !errors.Is(err, ErrSpace) {
			return fmt.Errorf("%v, want no space", err)
		} else {
			fmt.Println(err)
		}
	} else if err := large("does not", tooMuch); kind == "shm" && err != nil || kind != "shm" && !errors.Is(err, ErrSpace) {
		return fmt.Errorf("%d bytes: %v", tooMuch, err)
	} else if err != nil {
		fmt.Println(err)
	}
	before := stored2(path)
	if err := large("huge", 5<<40); !errors.Is(err, ErrSpace) {
		return fmt.Errorf("5 TB: %v", err)
	} else {
		fmt.Println(err)
	}
	if after := stored2(path); after > before+1<<20 {
		return fmt.Errorf("%d bytes are taken after what failed, %d before", after, before)
	}
	if err := s.Commit(); err != nil { // all is as it was
		return err
	}
	if err := s.Close(); err != nil {
		return err
	}
	if s, err = Open(path); err != nil {
		return err
	}
	if s.Find("fits") == nil || s.Find("huge") != nil {
		return fmt.Errorf("%d objects", len(s.Objects()))
	}
	return nil
}

// addressSpace returns how many bytes of addresses this process has mapped.
func addressSpace() (uint64, error) {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0, err
	}
	pages, _, _ := strings.Cut(string(text), " ")
	n, err := strconv.ParseUint(pages, 10, 64)
	return n * uint64(os.Getpagesize()), err
}

func stored2(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return -1
	}
	return blocks(info)
}

// TestNoSpace: a lack of space is an error that says so, and leaves what was there; never a signal.
func TestNoSpace(t *testing.T) {
	for _, c := range []struct {
		kind   string
		mounts bool
		want   string
	}{
		{"tmpfs", true, "the file system has"},
		{"fsize", false, "ulimit -f"},
		{"vsize", false, "ulimit -v"},
		{"shm", true, "has"},
	} {
		t.Run(c.kind, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "store")
			if c.mounts {
				path = dir
			}
			cmd := exec.Command(os.Args[0], "-test.run=^$")
			cmd.Env = append(os.Environ(), boundedEnv+"="+c.kind+":"+path)
			if c.mounts {
				cmd.SysProcAttr = &syscall.SysProcAttr{
					Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
					UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
					GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
				}
			}
			out, err := cmd.CombinedOutput()
			if c.mounts && (errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOSPC) || strings.Contains(string(out), "FAILED: operation not permitted")) {
				t.Skip("this system gives a test no file system of its own")
			}
			if err != nil || !strings.Contains(string(out), c.want) {
				t.Fatalf("%v: %s", err, out)
			}
			t.Logf("%s", out)
		})
	}
}

// TestDiskIsLeftAlone: what a disk has no room for is refused without having taken any of it, which other programs would miss meanwhile.
func TestDiskIsLeftAlone(t *testing.T) {
	s, err := Create(filepath.Join(t.TempDir(), "store"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	free := availableSpace(s.b.f)
	if free <= 0 {
		t.Fatalf("%d bytes are free for temporary files", free)
	}
	done, least := make(chan struct{}), make(chan int64)
	go func() {
		most := free
		for {
			select {
			case <-done:
				least <- most
				return
			default:
				most = min(most, availableSpace(s.b.f))
			}
		}
	}()
	for range 20 {
		if err := s.Room("", 2*free); !errors.Is(err, ErrSpace) {
			t.Errorf("%v", err)
		}
	}
	close(done)
	// Other programs write meanwhile, and not half of what there is.
	if got := <-least; got < free/2 {
		t.Errorf("of %d free bytes %d were left", free, got)
	}
}

// TestMemoryLeft reads the limits of containers.
func TestMemoryLeft(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	machine := "MemTotal:  8000000 kB\nMemAvailable:  4194304 kB\nSwapFree: 1048576 kB\n"
	for name, c := range map[string]struct {
		files fstest.MapFS
		free  int64
		what  string
	}{
		"machine": {fstest.MapFS{"proc/meminfo": file(machine)}, 5<<30 - reservedMemory, "the machine"},
		"nothing": {fstest.MapFS{}, -1, ""},
		"docker": {fstest.MapFS{
			"proc/meminfo": file(machine), "proc/self/cgroup": file("0::/\n"),
			"sys/fs/cgroup/memory.max": file("1073741824\n"), "sys/fs/cgroup/memory.current": file("805306368\n"),
			"sys/fs/cgroup/memory.stat": file("anon 5\ninactive_file 268435456\n"),
		}, 1<<29 - reservedMemory, "the memory cgroup of this process"},
		"unlimited": {fstest.MapFS{
			"proc/meminfo": file(machine), "proc/self/cgroup": file("0::/user.slice/a\n"),
			"sys/fs/cgroup/user.slice/a/memory.max": file("max\n"), "sys/fs/cgroup/user.slice/memory.max": file("max\n"),
		}, 5<<30 - reservedMemory, "the machine"},
		"above": {fstest.MapFS{
			"proc/meminfo": file(machine), "proc/self/cgroup": file("0::/user.slice/a\n"),
			"sys/fs/cgroup/user.slice/a/memory.max": file("max\n"),
			"sys/fs/cgroup/user.slice/memory.max":   file("1073741824\n"), "sys/fs/cgroup/user.slice/memory.current": file("1073741824\n"),
		}, 0, "the memory cgroup of this process"},
		"version 1": {fstest.MapFS{
			"proc/meminfo": file(machine), "proc/self/cgroup": file("4:memory:/docker/abc\n1:cpu:/\n"),
			"sys/fs/cgroup/memory/memory.limit_in_bytes": file("1073741824\n"), "sys/fs/cgroup/memory/memory.usage_in_bytes": file("0\n"),
		}, 1<<30 - reservedMemory, "the memory cgroup of this process"},
	} {
		if free, what := memoryLeft(c.files); free != c.free || what != c.what {
			t.Errorf("%s: %d %q, want %d %q", name, free, what, c.free, c.what)
		}
	}
}
