package install

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestLabArguments(t *testing.T) {
	root := t.TempDir()
	lab := Python{Lab: "4.6.6"}

	args := labArgs(lab, root, LabOptions{Args: []string{"--port", "9999"}})
	if !slices.Equal(args[:2], []string{"-m", "jupyterlab"}) || !slices.Contains(args, "--ServerApp.ip=127.0.0.1") || !slices.Contains(args, "--ServerApp.root_dir="+root) {
		t.Errorf("%v", args)
	}
	if !slices.Equal(args[len(args)-2:], []string{"--port", "9999"}) {
		t.Errorf("the user's options do not come last: %v", args)
	}
	if !slices.Contains(args, "--no-browser") {
		t.Error("JupyterLab opens the browser, and stopping it would close that")
	}
	for _, a := range args {
		if strings.Contains(a, "token") {
			t.Errorf("everyone on the machine can read %s", a)
		}
	}
}

func TestDisplay(t *testing.T) {
	env := map[string]string{}
	get := func(name string) string { return env[name] }
	if hasDisplay("linux", get) || !hasDisplay("darwin", get) {
		t.Error("without variables: only macOS has a display")
	}
	for _, name := range []string{"DISPLAY", "WAYLAND_DISPLAY", "WSL_DISTRO_NAME"} {
		if env = map[string]string{name: ":0"}; !hasDisplay("linux", get) {
			t.Errorf("%s is ignored", name)
		}
	}
}

func TestBrowserIsOpenedOnceAndOutlivesUs(t *testing.T) {
	bin := t.TempDir()
	t.Setenv("PATH", bin)
	seen := filepath.Join(bin, "seen")
	script(t, filepath.Join(bin, "xdg-open"), "#!/bin/sh\necho \"$1\" >> "+seen+"\n")
	script(t, filepath.Join(bin, "open"), "#!/bin/sh\necho \"$1\" >> "+seen+"\n")
	openBrowser("http://127.0.0.1:1/lab?token=x")
	for began := time.Now(); time.Since(began) < time.Minute; {
		if b, _ := os.ReadFile(seen); len(b) > 0 {
			if string(b) != "http://127.0.0.1:1/lab?token=x\n" {
				t.Errorf("%q", b)
			}
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Error("not opened")
}

func TestStartPageIsTheFirstTutorial(t *testing.T) {
	root := t.TempDir()
	if got := startPage(root, nil); got != "/lab" {
		t.Error(got)
	}
	write(t, filepath.Join(root, "02 second.ipynb"), "{}")
	if got := startPage(root, []string{"--ServerApp.root_dir=/elsewhere"}); got != "/lab" {
		t.Error(got)
	}
	if got := startPage(root, nil); got != "/lab/tree/02%20second.ipynb" {
		t.Error(got)
	}
	write(t, filepath.Join(root, "01-first.ipynb"), "{}")
	if got := startPage(root, nil); got != "/lab/tree/01-first.ipynb" {
		t.Error(got)
	}
}

func TestTokenIsNewUnlessChosen(t *testing.T) {
	token := func() (last string) {
		for _, e := range labEnv("/py/bin/python3", "/home") {
			if v, ok := strings.CutPrefix(e, "JUPYTER_TOKEN="); ok {
				last = v // as the last one does for a started program
			}
		}
		return last
	}
	t.Setenv("JUPYTER_TOKEN", "")
	if a, b := token(), token(); len(a) < 20 || a == b {
		t.Errorf("tokens %q and %q", a, b)
	}
	t.Setenv("JUPYTER_TOKEN", "chosen")
	if got := token(); got != "chosen" {
		t.Errorf("the user's token became %q", got)
	}
}

// bound returns a socket with a port of loopback that does not listen: nobody else gets the port, and nobody is answered on it.
func bound(t *testing.T) (fd int, address string) {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Close(fd) })
	syscall.CloseOnExec(fd)
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	name, err := syscall.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	return fd, fmt.Sprintf("127.0.0.1:%d", name.(*syscall.SockaddrInet4).Port)
}

func TestAddressOfADeadServerIsNotTaken(t *testing.T) {
	file := serverFile(t.TempDir(), 4711)
	write(t, file, `{"url": "http://127.0.0.1:1/", "token": "dead"}`)
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(file, old, old); err != nil {
		t.Fatal(err)
	}
	// The new server writes its address before it takes connections.
	fd, address := bound(t)
	ended, served := make(chan error, 1), make(chan error, 1)
	began := time.Now()
	go func() {
		time.Sleep(200 * time.Millisecond)
		write(t, file, `{"url": "http://`+address+`/", "token": "new"}`)
		time.Sleep(300 * time.Millisecond)
		served <- syscall.Listen(fd, 1)
	}()
	got, err := serverURL(t.Context(), file, began, "/lab", ended)
	if err != nil || got != "http://"+address+"/lab?token=new" || time.Since(began) < 450*time.Millisecond {
		t.Errorf("%q, %v", got, err)
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
	ended <- nil
	if _, err := serverURL(t.Context(), file, time.Now().Add(time.Hour), "/lab", ended); err == nil || !strings.Contains(err.Error(), "did not start") {
		t.Errorf("a server that ended: %v", err)
	}
}
