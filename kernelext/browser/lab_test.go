package browser

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// A lab is a running JupyterLab on a folder of its own, with settings, signatures and kernels of its own.
type lab struct {
	dir    string // everything below goes away with it
	root   string // the notebooks it serves
	home   string // of the installation
	python string
	env    []string
	url    string // with the token
	cmd    *exec.Cmd
	ended  chan error
	log    *tailBuffer
}

// checkoutDir returns the root of the main module.
func checkoutDir() (string, error) {
	dir, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(filepath.Join(dir, "kernelext", "cmd", "halftone")); err != nil {
		return "", fmt.Errorf("these tests run in their folder of a checkout: %w", err)
	}
	return dir, nil
}

// newLab brings the installation up to date and prepares the folders. It starts nothing.
func newLab(ctx context.Context) (*lab, error) {
	checkout, err := checkoutDir()
	if err != nil {
		return nil, err
	}
	home := os.Getenv("HALFTONE_HOME")
	if home == "" {
		home = filepath.Join(checkout, ".halftone", "home")
	}
	dir, err := os.MkdirTemp("", "halftone-browser-")
	if err != nil {
		return nil, err
	}
	l := &lab{dir: dir, root: filepath.Join(dir, "notebooks"), home: home, log: &tailBuffer{}}
	if err := os.MkdirAll(l.root, 0o700); err != nil {
		return l, err
	}
	l.setEnv("")
	install := l.command(ctx, "go", "run", "-buildvcs=false", "./kernelext/cmd/halftone", "install", "--private")
	install.Dir = checkout
	if out, err := install.CombinedOutput(); err != nil {
		return l, fmt.Errorf("halftone install: %w\n%s", err, out)
	}
	b, err := os.ReadFile(filepath.Join(home, "install.json"))
	if err != nil {
		return l, err
	}
	var state struct{ Python, Data string }
	if err := json.Unmarshal(b, &state); err != nil {
		return l, err
	}
	l.python = state.Python
	l.setEnv(state.Data)
	return l, nil
}

// setEnv keeps Jupyter out of the user's folders. data is where the kernel is installed.
func (l *lab) setEnv(data string) {
	own := map[string]string{
		"HALFTONE_HOME": l.home, "JUPYTER_PATH": data, "JUPYTER_TOKEN": rand.Text(), "CGO_ENABLED": "0",
		"JUPYTER_DATA_DIR": "data", "JUPYTER_CONFIG_DIR": "config", "JUPYTER_RUNTIME_DIR": "run", "IPYTHONDIR": "ipython",
		"JUPYTERLAB_SETTINGS_DIR": "settings", "JUPYTERLAB_WORKSPACES_DIR": "workspaces",
	}
	l.env = nil
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		if _, ok := own[name]; !ok && name != "PWD" {
			l.env = append(l.env, v)
		}
	}
	for name, v := range own {
		if strings.HasSuffix(name, "_DIR") || name == "IPYTHONDIR" {
			v = filepath.Join(l.dir, v)
		}
		l.env = append(l.env, name+"="+v)
	}
}

func (l *lab) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env, cmd.Dir = l.env, l.root
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 15 * time.Second
	return cmd
}

func (l *lab) halftone(ctx context.Context, args ...string) error {
	if out, err := l.command(ctx, filepath.Join(l.home, "bin", "halftone"), args...).CombinedOutput(); err != nil {
		return fmt.Errorf("halftone %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return nil
}

// trust signs a notebook, as running it in JupyterLab and saving it does.
func (l *lab) trust(ctx context.Context, path string) error {
	if out, err := l.command(ctx, l.python, "-m", "jupyter", "trust", path).CombinedOutput(); err != nil {
		return fmt.Errorf("jupyter trust: %w\n%s", err, out)
	}
	return nil
}

var address = regexp.MustCompile(`http://127\.0\.0\.1:\d+/\S*`)

// start runs `halftone lab`, the command of the README, and waits until JupyterLab answers.
func (l *lab) start(ctx context.Context) error {
	port, err := freePort()
	if err != nil {
		return err
	}
	// Not bound to ctx: it is stopped by stop, which lets it end its kernels.
	l.cmd = exec.Command(filepath.Join(l.home, "bin", "halftone"), "lab", "--private", "--no-browser", "--verbose", "--",
		"--ServerApp.root_dir="+l.root, "--ServerApp.port="+strconv.Itoa(port), "--LabApp.expose_app_in_browser=True")
	checkout, err := checkoutDir()
	if err != nil {
		return err
	}
	l.cmd.Dir, l.cmd.Env = checkout, l.env
	out, err := l.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	l.cmd.Stderr = l.log
	l.cmd.SysProcAttr = endWithUs()
	started := make(chan error)
	l.ended = make(chan error, 1)
	found := make(chan string, 1)
	go func() {
		runtime.LockOSThread() // "end with the parent" is tied to the thread that starts the child
		err := l.cmd.Start()
		started <- err
		if err != nil {
			return
		}
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			fmt.Fprintln(l.log, lines.Text())
			if at := address.FindString(lines.Text()); at != "" && strings.Contains(at, "token=") {
				select {
				case found <- at:
				default:
				}
			}
		}
		l.ended <- l.cmd.Wait()
	}()
	if err := <-started; err != nil {
		return err
	}
	select {
	case l.url = <-found:
		return nil
	case err := <-l.ended:
		l.ended <- err
		return fmt.Errorf("halftone lab ended: %v\n%s", err, l.log)
	case <-ctx.Done():
		return fmt.Errorf("halftone lab gave no address: %w\n%s", context.Cause(ctx), l.log)
	}
}

// stop ends JupyterLab as Ctrl-C does and removes the folder. It reports what would not end by itself.
func (l *lab) stop() error {
	var problems []error
	if l.cmd != nil && l.cmd.Process != nil {
		_ = l.cmd.Process.Signal(os.Interrupt)
		select {
		case <-l.ended:
		case <-time.After(2 * time.Minute):
			problems = append(problems, fmt.Errorf("halftone lab did not end within two minutes of Ctrl-C\n%s", l.log))
			_ = l.cmd.Process.Kill()
			<-l.ended
		}
	}
	for _, p := range l.leftBehind() {
		problems = append(problems, fmt.Errorf("process %d was left behind: %s", p.pid, p.command))
		_ = syscall.Kill(p.pid, syscall.SIGKILL)
	}
	err := os.RemoveAll(l.dir)
	for range 20 { // what has just ended may have been writing
		if err == nil {
			break
		}
		time.Sleep(100 * time.Millisecond)
		err = os.RemoveAll(l.dir)
	}
	return errors.Join(append(problems, err)...)
}

// leftBehind lists the processes of this JupyterLab and this browser that do not end within a moment.
func (l *lab) leftBehind() (list []process) {
	for range 600 {
		if list = processesWith("JUPYTER_RUNTIME_DIR="+filepath.Join(l.dir, "run"), l.dir); len(list) == 0 {
			return nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	return list
}

func freePort() (int, error) {
	s, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer s.Close()
	return s.Addr().(*net.TCPAddr).Port, nil
}

type process struct {
	pid     int
	command string
}

// processesWith lists the processes, other than this one, that carry an environment variable or have some text on their
// command line. It finds none where there is no /proc.
func processesWith(variable, text string) []process {
	var out []process
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		pid, _ := strconv.Atoi(filepath.Base(dir))
		env, err := os.ReadFile(filepath.Join(dir, "environ"))
		if err != nil || pid == os.Getpid() {
			continue
		}
		line, _ := os.ReadFile(filepath.Join(dir, "cmdline"))
		command := strings.ReplaceAll(strings.TrimRight(string(line), "\x00"), "\x00", " ")
		if strings.Contains(command, text) || bytes.Contains(append([]byte{0}, env...), []byte("\x00"+variable+"\x00")) {
			out = append(out, process{pid, command})
		}
	}
	return out
}

// A tailBuffer keeps the end of what is written to it.
type tailBuffer struct {
	mu sync.Mutex
	b  []byte
}

func (t *tailBuffer) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.b = append(t.b, p...)
	if n := len(t.b) - 16<<10; n > 0 {
		t.b = t.b[n:]
	}
	return len(p), nil
}

func (t *tailBuffer) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.b)
}
