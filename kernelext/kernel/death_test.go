package kernel

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/halftone-ml/halftone/internal/stretch"
	"github.com/halftone-ml/halftone/internal/testsignal"
)

// busyCell prints and then works for a minute, with a child of its own.
const busyCell = "%%\ncmd := exec.Command(\"sleep\", \"77\")\ncmd.Start()\nfmt.Println(\"go\")\ntime.Sleep(time.Minute)"

func TestGoNBDies(t *testing.T) {
	s := startKernel(t, home(t))
	s.run("func f() int { return 1 }").ok(t)
	m := s.submit(busyCell)
	s.waitOutput(m, "go")
	behind := s.submit("%%\nfmt.Println(\"never\")")
	first := s.gonb()
	began := time.Now()
	if err := syscall.Kill(first, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	r := s.result(m)
	if d := time.Since(began); stretch.Over(d, 3*time.Second) {
		t.Errorf("the user was told after %v", d)
	}
	if r.reply["status"] != "error" || len(r.errors) != 1 || !strings.Contains(r.stderr, "killed") || !strings.Contains(r.stderr, "run them again") {
		t.Errorf("%v %v %q", r.reply, r.errors, r.stderr)
	}
	if s.result(behind).reply["status"] != "aborted" {
		t.Error("the cell behind was not given up")
	}
	for _, p := range sessionMembers(first) {
		t.Errorf("the dead GoNB left %s", p.name)
	}
	r = s.run("%%\nfmt.Println(\"again\", amp.Float16)").ok(t)
	if !strings.HasPrefix(r.stdout, "again") || r.reply["execution_count"] != 3.0 || strings.Contains(r.stderr, "gone") {
		t.Errorf("%q %v", r.stdout, r.reply)
	}

	// It may die while nothing runs, too.
	if err := syscall.Kill(s.gonb(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	s.run("%%\nfmt.Println(2)").ok(t)
}

func TestGoNBCannotStart(t *testing.T) {
	l := home(t)
	_ = os.Remove(l.Bin())
	if err := os.Mkdir(l.Bin(), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(l.GoNB(), []byte("#!/bin/sh\necho panic: no luck >&2\nexit 3\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	s := startKernel(t, l)
	r := s.run("%%\nfmt.Println(1)")
	if r.reply["status"] != "error" || !strings.Contains(r.stderr, "no luck") || !strings.Contains(r.stderr, "doctor") {
		t.Errorf("%v %q", r.reply, r.stderr)
	}
	if s.ask("is_complete_request", map[string]any{"code": "x"})["status"] != "complete" {
		t.Error("the kernel does not answer any more")
	}
}

// TestShutdownWithoutGopls: what waits for a gopls that is not installed, or has not started yet, holds up nobody who ends the kernel.
func TestShutdownWithoutGopls(t *testing.T) {
	for name, wait := range map[string]func(s *server){
		"warming": func(*server) { time.Sleep(warmAfter + 500*time.Millisecond) },
		"asked": func(s *server) {
			s.request(s.shell, "complete_request", map[string]any{"code": "fmt.", "cursor_pos": 4})
			time.Sleep(200 * time.Millisecond)
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := home(t)
			err := os.Remove(l.Bin()) // a link to all programs
			if err == nil {
				err = os.Mkdir(l.Bin(), 0o700)
			}
			for _, program := range []string{"gonb", "goimports"} {
				if err == nil {
					err = os.Symlink(filepath.Join(toolsDir, program), filepath.Join(l.Bin(), program))
				}
			}
			if err == nil { // before any other in PATH
				err = os.WriteFile(filepath.Join(l.Bin(), "gopls"), []byte("#!/bin/sh\nexec sleep 77\n"), 0o700)
			}
			if err != nil {
				t.Fatal(err)
			}
			s := startKernel(t, l)
			wait(s)
			began := time.Now()
			s.reply(s.request(s.control, "shutdown_request", map[string]any{"restart": false}))
			s.waitExit()
			if d := time.Since(began); stretch.Over(d, 2*time.Second) {
				t.Errorf("it took %v", d)
			}
		})
	}
}

func TestShutdown(t *testing.T) {
	for _, how := range []string{"idle", "busy", "stubborn", "restart", "at once", "on shell"} {
		t.Run(how, func(t *testing.T) {
			s := startKernel(t, home(t))
			switch how {
			case "idle":
				s.run("%%\nfmt.Println(1)").ok(t)
			case "busy", "restart", "on shell":
				s.waitOutput(s.submit(busyCell), "go")
			case "stubborn":
				s.waitOutput(s.submit("%%\nsignal.Ignore(os.Interrupt, syscall.SIGTERM)\n"+busyCell[3:]), "go")
			}
			session := 0
			if how != "at once" {
				session = s.gonb()
			}
			on := s.control
			if how == "on shell" {
				on = s.shell
			}
			began := time.Now()
			r := s.reply(s.request(on, "shutdown_request", map[string]any{"restart": how == "restart"}))
			if r["status"] != "ok" || r["restart"] != (how == "restart") {
				t.Errorf("%v", r)
			}
			s.waitExit()
			if d := time.Since(began); stretch.Over(d, 4*time.Second) { // Jupyter kills after five
				t.Errorf("it took %v", d)
			}
			if code := s.cmd.ProcessState.ExitCode(); code != 0 {
				t.Errorf("exit code %d", code)
			}
			nothingLeft(t, s.layout, session)
		})
	}
}

func TestSignalsEndTheKernel(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGKILL} {
		t.Run(sig.String(), func(t *testing.T) {
			system := t.TempDir()
			env := []string{"TMPDIR=" + system}
			if sig == syscall.SIGINT {
				env = append(env, parentEnv+"=") // in a terminal; under Jupyter it interrupts the cell
			}
			s := startKernel(t, home(t), env...)
			s.waitOutput(s.submit(busyCell), "go")
			session := s.gonb()
			// SIGKILL goes to the process group, as Jupyter sends it.
			target := s.cmd.Process.Pid
			if sig == syscall.SIGKILL {
				target = -target
			}
			if err := syscall.Kill(target, sig); err != nil {
				t.Fatal(err)
			}
			s.waitExit()
			nothingLeft(t, s.layout, session)
			if left, err := os.ReadDir(system); err != nil || len(left) > 0 {
				t.Errorf("left in TMPDIR: %v %v", left, err)
			}
		})
	}
}

// TestStartedInTheBackground: where the kernel was started with interrupts and hangups ignored, as a shell script and nohup do it, cells
// are interrupted all the same, and a closed terminal ends nothing.
func TestStartedInTheBackground(t *testing.T) {
	signal.Ignore(syscall.SIGINT, syscall.SIGHUP)
	defer testsignal.Restore()
	defer signal.Reset(syscall.SIGINT, syscall.SIGHUP)
	s := startKernel(t, home(t))
	m := s.submit(busyCell)
	s.waitOutput(m, "go")
	if err := syscall.Kill(s.cmd.Process.Pid, syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	s.press()
	if r := s.result(m); r.reply["status"] != "error" || !strings.Contains(r.stderr+fmt.Sprint(r.reply), "interrupt") {
		t.Errorf("%v %q", r.reply, r.stderr)
	}
	if r := s.run("%%\nfmt.Println(1)"); r.stdout != "1\n" {
		t.Errorf("the next cell printed %q %q", r.stdout, r.stderr)
	}
}

// TestParentDies kills the program that started the kernel, as when a notebook server crashes.
func TestParentDies(t *testing.T) {
	l := home(t)
	_, file := connectionFile(t)
	// The shell stays the parent, and names itself as Jupyter does.
	parent := exec.Command("/bin/sh", "-c", fmt.Sprintf("%s=$$ %s='%s' %s='%s' '%s' & echo $!; wait", parentEnv, serveEnv, file, homeEnv, l.Home, os.Args[0]))
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	var pid int
	if _, err := fmt.Fscan(out, &pid); err != nil {
		t.Fatal(err)
	}
	session := 0
	for began := time.Now(); session == 0; time.Sleep(20 * time.Millisecond) {
		for _, p := range processes() {
			if p.parent == pid && p.name == "gonb" {
				session = p.pid
			}
		}
		if time.Since(began) > patience {
			t.Fatal("GoNB was not started")
		}
	}
	_ = parent.Process.Kill()
	_ = parent.Wait()
	for began := time.Now(); syscall.Kill(pid, 0) == nil; time.Sleep(50 * time.Millisecond) {
		if b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err == nil {
			if _, alive := parseStat(string(b)); !alive {
				break
			}
		}
		if time.Since(began) > time.Minute {
			_ = syscall.Kill(pid, syscall.SIGKILL)
			t.Fatal("the kernel outlives its parent")
		}
	}
	nothingLeft(t, l, session)
}

func TestSweep(t *testing.T) {
	parent := t.TempDir()
	living, err := makeDir(parent)
	if err != nil {
		t.Fatal(err)
	}
	defer living.remove()
	if info, err := os.Stat(living.path); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v %v", info, err)
	}
	dead, err := makeDir(parent)
	if err != nil {
		t.Fatal(err)
	}
	_ = dead.lock.Close() // as the system does when a process ends
	old := time.Now().Add(-2 * lockPatience)
	at := func(name string, mode os.FileMode, when time.Time, files ...string) string {
		dir := filepath.Join(parent, name)
		for _, f := range append(files, ".") {
			if err := os.MkdirAll(filepath.Join(dir, f), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Chmod(dir, mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(dir, when, when); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	gone := []string{dead.path, at(dirPrefix+"half-removed", 0o700, old, tmpName)}
	kept := []string{
		living.path, at(dirPrefix+"being-made", 0o700, time.Now()), at(dirPrefix+"ml-project", 0o755, old, tmpName), at("notes", 0o700, old, tmpName),
		at(dirPrefix+"dig", 0o700, old, "src"),
	}
	another, err := makeDir(parent)
	if err != nil {
		t.Fatal(err)
	}
	defer another.remove()
	for _, dir := range gone {
		if _, err := os.Stat(dir); err == nil {
			t.Errorf("%s was kept", dir)
		}
	}
	for _, dir := range kept {
		if _, err := os.Stat(dir); err != nil {
			t.Errorf("%s was removed", dir)
		}
	}
	long := filepath.Join(parent, strings.Repeat("long", 30))
	elsewhere, err := makeDir(long)
	if err != nil {
		t.Fatal(err)
	}
	defer elsewhere.remove()
	if len(elsewhere.path) > maxSocketPath-40 {
		t.Errorf("no socket fits into %s", elsewhere.path)
	}
}

// killChild kills the running GoNB and waits until another has taken its place.
func killChild(t *testing.T, s *server) {
	t.Helper()
	first := s.gonb()
	if err := syscall.Kill(first, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	for began := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		for _, p := range processes() {
			if p.parent == s.cmd.Process.Pid && p.name == "gonb" && p.pid != first {
				return
			}
		}
		if time.Since(began) > patience {
			t.Fatal("GoNB was not started again")
		}
	}
}

// TestManyKernelsStartAtOnce makes the folders of many kernels at the same moment: none takes another's for a dead one's.
func TestManyKernelsStartAtOnce(t *testing.T) {
	parent := t.TempDir()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 40 {
				d, err := makeDir(parent)
				if err != nil {
					t.Error(err)
					return
				}
				if _, err := os.Stat(filepath.Join(d.path, lockName)); err != nil {
					t.Errorf("it was removed: %v", err)
				}
				d.remove()
			}
		})
	}
	wg.Wait()
}

// TestLastPanic holds that of a long log the user sees the panic and where it was, though GoNB's many goroutines follow.
func TestLastPanic(t *testing.T) {
	log := &tail{}
	fmt.Fprintf(log, "I1126 started\npanic: boom\n\ngoroutine 7 [running]:\nmain.f()\n\t/f.go:3\n")
	for n := range 60 {
		fmt.Fprintf(log, "\ngoroutine %d [select]:\n%s\n", n, strings.Repeat("net.(*conn).Read()\n", 20))
	}
	if got := lastPanic(log.String()); got != "panic: boom\n\ngoroutine 7 [running]:\nmain.f()\n\t/f.go:3" {
		t.Errorf("%q", got)
	}
	if got := lastPanic("I1126 started\nI1126 ended"); got != "" {
		t.Errorf("%q", got)
	}
}
