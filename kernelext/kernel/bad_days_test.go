package kernel

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/halftone-ml/halftone/internal/stretch"
	"github.com/halftone-ml/halftone/kernelext/layout"
)

// withBin makes an installation in which a line of shell comes before GoNB.
func withBin(t *testing.T, line string) layout.Layout {
	t.Helper()
	l := home(t)
	_ = os.Remove(l.Bin())
	if err := os.Mkdir(l.Bin(), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, tool := range []string{"goimports", "gopls"} {
		if err := os.Symlink(filepath.Join(toolsDir, tool), filepath.Join(l.Bin(), tool)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(l.GoNB(), []byte("#!/bin/sh\n"+line+"\nexec '"+toolsDir+"/gonb' \"$@\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return l
}

func TestInterruptBeforeGoNBIsThere(t *testing.T) {
	goOn := filepath.Join(t.TempDir(), "go on")
	s := startKernel(t, withBin(t, "until test -e '"+goOn+"'; do sleep 0.1; done"))
	first, second := s.submit("%%\nfmt.Println(1)"), s.submit("%%\nfmt.Println(2)")
	s.idle(s.request(s.shell, "comm_close", map[string]any{})) // both have come: the channels are connections of their own, and one may overtake the other
	began := time.Now()
	s.reply(s.request(s.control, "interrupt_request", map[string]any{}))
	r := s.result(first)
	if d := time.Since(began); r.reply["status"] != "error" || r.reply["ename"] != "Interrupted" || r.reply["execution_count"] != 1.0 || len(r.errors) != 1 || stretch.Over(d, time.Second) {
		t.Errorf("%v %v after %v", r.reply, r.errors, d)
	}
	if s.result(second).reply["status"] != "aborted" {
		t.Error("the cell behind was not given up")
	}
	if err := os.WriteFile(goOn, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if r := s.run("%%\nfmt.Println(3)").ok(t); r.stdout != "3\n" || r.reply["execution_count"] != 2.0 {
		t.Errorf("%q %v", r.stdout, r.reply)
	}
}

// TestInterruptGoGet stops a cell whose module comes from a proxy that does not answer.
func TestInterruptGoGet(t *testing.T) {
	asked := make(chan struct{}, 10)
	stop := make(chan struct{})
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- struct{}{}
		<-stop
	}))
	defer proxy.Close()
	defer close(stop)
	s := startKernel(t, home(t), emptyCache(t), "GOPROXY="+proxy.URL, "GONOSUMDB=example.org")
	m := s.submit("import \"example.org/slow\"\n%%\nslow.Never()")
	select {
	case <-asked:
	case <-time.After(patience):
		t.Fatal("the module was not asked for")
	}
	began := time.Now()
	s.reply(s.request(s.control, "interrupt_request", map[string]any{}))
	if r := s.result(m); r.reply["status"] != "error" {
		t.Errorf("%v", r.reply)
	}
	if d := time.Since(began); stretch.Over(d, 3*time.Second) {
		t.Errorf("it took %v", d)
	}
	s.run("%%\nfmt.Println(1)").ok(t)
}

// TestGoNBDiesAgainAndAgain kills GoNB idle, while it starts, and in one cell after the other.
func TestGoNBDiesAgainAndAgain(t *testing.T) {
	s := startKernel(t, home(t))
	s.run("func f() int { return 1 }").ok(t)
	killChild(t, s)
	r := s.run("%%\nfmt.Println(2)").ok(t)
	if !strings.Contains(r.stderr, "is gone: run them again") || r.reply["execution_count"] != 2.0 {
		t.Errorf("nobody was told that declarations are gone: %q %v", r.stderr, r.reply)
	}
	if r := s.run("%%\nfmt.Println(3)").ok(t); r.stderr != "" {
		t.Errorf("said twice: %q", r.stderr)
	}
	killChild(t, s) // and at once the one that is starting
	killChild(t, s)
	if r := s.run("%%\nfmt.Println(4)").ok(t); r.stdout != "4\n" || r.reply["execution_count"] != 4.0 {
		t.Errorf("%q %v", r.stdout, r.reply)
	}
	for i := range 4 {
		m := s.submit("%%\nfmt.Println(\"go\")\ntime.Sleep(time.Minute)")
		s.waitOutput(m, "go")
		_ = syscall.Kill(s.gonb(), syscall.SIGKILL)
		if r := s.result(m); r.reply["ename"] != "KernelDied" || r.reply["execution_count"] != float64(5+i) {
			t.Errorf("%v", r.reply)
		}
	}
	m := s.submit("%%\nfmt.Println(os.Getpid())\ntime.Sleep(time.Minute)")
	s.waitOutput(m, "\n")
	pid, _ := strconv.Atoi(strings.TrimSpace(content(s.streams(m)[0])["text"].(string)))
	_ = syscall.Kill(pid, syscall.SIGKILL) // the cell's program alone
	if r := s.result(m); r.reply["status"] != "error" || r.reply["evalue"] != "signal: killed" {
		t.Errorf("%v", r.reply)
	}
	list := s.ask("history_request", map[string]any{"hist_access_type": "range", "session": 0, "start": 1, "stop": 3, "output": false, "raw": true})["history"]
	if got := fmt.Sprint(list); got != "[[1 1 func f() int { return 1 }] [1 2 %%\nfmt.Println(2)]]" {
		t.Errorf("the history is %s", got)
	}
	if r := s.run("!  \n%\t \n%%\nfmt.Println(5)").ok(t); r.stdout != "5\n" || strings.Contains(r.stderr, "gone") {
		t.Errorf("%q %q", r.stdout, r.stderr)
	}
}

// streams lists a request's stream messages.
func (c *client) streams(m *message) (list []*message) {
	for _, p := range c.published(m) {
		if p.kind == "stream" {
			list = append(list, p)
		}
	}
	return list
}

// TestBrokenGoNBIsTriedAgain puts right what was wrong, without a restart of the kernel.
func TestBrokenGoNBIsTriedAgain(t *testing.T) {
	flag := filepath.Join(t.TempDir(), "broken")
	if err := os.WriteFile(flag, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s := startKernel(t, withBin(t, "test -e '"+flag+"' && exit 3"))
	if r := s.run("%%\nfmt.Println(1)"); r.reply["ename"] != "KernelBroken" || !strings.Contains(r.stderr, "doctor") {
		t.Errorf("%v %q", r.reply, r.stderr)
	}
	if err := os.Remove(flag); err != nil {
		t.Fatal(err)
	}
	if r := s.run("%%\nfmt.Println(2)").ok(t); r.stdout != "2\n" || r.reply["execution_count"] != 2.0 {
		t.Errorf("%q %v", r.stdout, r.reply)
	}
}

// TestSpinningGoNB has a GoNB that works for minutes: only the second interrupt ends it.
func TestSpinningGoNB(t *testing.T) {
	s := startKernel(t, home(t))
	s.run("%%\nfmt.Println(1)").ok(t)
	m := s.submit("var d = `" + strings.Repeat("x", 600_000) + "`") // its parser is quadratic
	s.waitBusy(m)
	time.Sleep(time.Second)
	s.press()
	time.Sleep(time.Second)
	s.press()
	r := s.result(m)
	if why := fmt.Sprint(r.reply["evalue"], r.stderr); r.reply["ename"] != "KernelDied" || !strings.Contains(why, "interrupted a second time") || !strings.Contains(why, "declared is gone") || strings.Contains(why, "memory") {
		t.Errorf("%v %q", r.reply, r.stderr)
	}
	s.run("%%\nfmt.Println(2)").ok(t)
}

// listening lists the addresses of TCP sockets that a process listens on.
func listening(t *testing.T, pid int) (addrs []string) {
	t.Helper()
	inodes := map[string]bool{}
	fds, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	for _, fd := range fds {
		if link, err := os.Readlink(fd); err == nil && strings.HasPrefix(link, "socket:[") {
			inodes[strings.Trim(link, "socket:[]")] = true
		}
	}
	for _, file := range []string{"tcp", "tcp6"} {
		f, err := os.Open(fmt.Sprintf("/proc/%d/net/%s", pid, file))
		if err != nil {
			continue
		}
		defer f.Close()
		for lines := bufio.NewScanner(f); lines.Scan(); {
			w := strings.Fields(lines.Text())
			if len(w) < 10 || w[3] != "0A" || !inodes[w[9]] {
				continue
			}
			host, port, _ := strings.Cut(w[1], ":")
			n, _ := strconv.ParseUint(port, 16, 16)
			addr := host
			if v, err := strconv.ParseUint(host, 16, 32); err == nil && len(host) == 8 {
				addr = net.IP(binary.LittleEndian.AppendUint32(nil, uint32(v))).String()
			}
			addrs = append(addrs, fmt.Sprintf("%s:%d", addr, n))
		}
	}
	return addrs
}

// TestOnlyTheNamedInterfaceIsBound looks at every socket of the kernel and all it has started.
func TestOnlyTheNamedInterfaceIsBound(t *testing.T) {
	if _, err := os.Stat("/proc/self/net/tcp"); err != nil {
		t.Skip("SKIPPED: the system does not list sockets in /proc")
	}
	s := startKernel(t, home(t))
	s.run("%%\nfmt.Println(1)").ok(t)
	want := map[string]bool{}
	for _, port := range []int{s.conn.ShellPort, s.conn.ControlPort, s.conn.StdinPort, s.conn.IOPubPort, s.conn.HBPort} {
		want[fmt.Sprintf("127.0.0.1:%d", port)] = true
	}
	for _, addr := range listening(t, s.cmd.Process.Pid) {
		if !want[addr] {
			t.Errorf("the kernel listens on %s", addr)
		}
		delete(want, addr)
	}
	if len(want) > 0 {
		t.Errorf("it does not listen on %v", want)
	}
	for _, p := range sessionMembers(s.gonb()) {
		if addrs := listening(t, p.pid); len(addrs) > 0 {
			t.Errorf("%s listens on %v", p.name, addrs)
		}
	}
}

// TestIPC serves unix sockets, twice with the same connection file: the first kernel is killed and leaves its sockets.
func TestIPC(t *testing.T) {
	l := home(t)
	conn, file := connectionFile(t)
	conn.Transport, conn.IP = "ipc", filepath.Join(l.Home, "k")
	conn.ShellPort, conn.ControlPort, conn.StdinPort, conn.IOPubPort, conn.HBPort = 1, 2, 3, 4, 5
	if err := os.WriteFile(file, mustJSON(conn), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, how := range []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM} {
		s := startKernelOn(t, l, conn, file)
		if r := s.run("%%\nfmt.Println(\"by file\")").ok(t); r.stdout != "by file\n" {
			t.Errorf("%q", r.stdout)
		}
		for _, socket := range conn.sockets() {
			if info, err := os.Stat(socket); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("%v %v", info, err)
			}
		}
		if addrs := listening(t, s.cmd.Process.Pid); len(addrs) > 0 {
			t.Errorf("it listens on %v", addrs)
		}
		session := s.gonb()
		_ = s.cmd.Process.Signal(how)
		s.waitExit()
		nothingLeft(t, l, session)
	}
	for _, socket := range conn.sockets() {
		if _, err := os.Stat(socket); err == nil {
			t.Errorf("%s is left", socket)
		}
	}
}

// TestNoSpace runs a kernel whose temporary folder is a small file system that is full.
func TestNoSpace(t *testing.T) {
	l := home(t)
	if err := os.MkdirAll(l.Tmp(), 0o700); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=24m", "none", l.Tmp()).CombinedOutput(); err != nil {
		t.Skipf("SKIPPED: this user may not mount: %s", out)
	}
	t.Cleanup(func() { _ = exec.Command("umount", "-l", l.Tmp()).Run() })
	s := startKernel(t, l)
	s.run("%%\nfmt.Println(1)").ok(t)
	hog := filepath.Join(l.Tmp(), "hog")
	_ = os.WriteFile(hog, make([]byte, 30<<20), 0o600) // as much as there is room for
	r := s.run("%%\nfmt.Println(2)")
	text := fmt.Sprint(r.reply, r.stderr, r.displays)
	if r.reply["status"] != "error" || !strings.Contains(text, "no space left") {
		t.Errorf("%.2000s", text)
	}
	if s.ask("is_complete_request", map[string]any{"code": "x"})["status"] != "complete" {
		t.Error("the kernel does not answer")
	}
	if err := os.Remove(hog); err != nil {
		t.Fatal(err)
	}
	if r := s.run("%%\nfmt.Println(3)").ok(t); r.stdout != "3\n" {
		t.Errorf("%q", r.stdout)
	}
}

// TestReadOnlyHome runs as a user who may write neither its home nor the installation.
func TestReadOnlyHome(t *testing.T) {
	l := home(t)
	house := t.TempDir()
	for _, dir := range []string{house, l.Home} {
		if out, err := exec.Command("mount", "--bind", dir, dir).CombinedOutput(); err != nil {
			t.Skipf("SKIPPED: this user may not mount: %s", out)
		}
		t.Cleanup(func() { _ = exec.Command("umount", "-l", dir).Run() })
		if out, err := exec.Command("mount", "-o", "remount,ro,bind", dir).CombinedOutput(); err != nil {
			t.Skipf("SKIPPED: this user may not mount: %s", out)
		}
	}
	gocache, err := exec.Command("go", "env", "GOCACHE", "GOMODCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	dirs := strings.Fields(string(gocache))
	s := startKernel(t, l, "HOME="+house, "GOCACHE="+dirs[0], "GOMODCACHE="+dirs[1])
	if r := s.run("%%\nfmt.Println(amp.Float16)").ok(t); r.stdout == "" {
		t.Errorf("%q", r.stdout)
	}
	s.reply(s.request(s.control, "shutdown_request", map[string]any{"restart": false}))
	s.waitExit()
}
