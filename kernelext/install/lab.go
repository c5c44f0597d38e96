package install

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"
)

// LabOptions say how JupyterLab is started.
type LabOptions struct {
	NoBrowser  bool
	Verbose    bool                        // JupyterLab's log goes to the terminal instead of lab.log
	Args       []string                    // handed to JupyterLab as they are
	Background func(context.Context) error // runs beside JupyterLab, e.g. building gopls
}

// Lab serves the checkout's notebooks until ctx is done or JupyterLab ends, and leaves no process behind.
func (in *Installer) Lab(ctx context.Context, o LabOptions) error {
	root := filepath.Join(in.Checkout, "notebooks")
	if _, err := os.Stat(root); err != nil {
		root = in.Checkout
	}
	logPath := filepath.Join(in.Layout.Home, "lab.log")
	log, err := os.OpenFile(logPath, os.O_CREATE|os.O_TRUNC|os.O_APPEND|os.O_WRONLY, 0o600) // two servers may write to it
	if err != nil {
		return explain("opening "+logPath, in.Layout.Home, err, "")
	}
	defer log.Close()
	config, err := labConfig(in.Layout.Home)
	if err != nil {
		return explain("writing JupyterLab's defaults", in.Layout.Home, err, "")
	}
	cmd := exec.Command(in.python.Path, labArgs(in.python, root, o)...)
	cmd.Dir = root
	cmd.Env = append(labEnv(in.python.Path, in.Layout.Home), "JUPYTER_CONFIG_PATH="+config)
	cmd.Stdout, cmd.Stderr = log, log
	if o.Verbose {
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	}
	began := time.Now()
	ended, err := startServer(cmd)
	if err != nil {
		return fmt.Errorf("starting JupyterLab with %s: %w", in.python.Path, err)
	}
	address, err := serverURL(ctx, serverFile(in.python.RuntimeDir, cmd.Process.Pid), began, startPage(root, o.Args), ended)
	if err == nil {
		in.Report.Say("✓ %-14s %s  %s", "ready", "Ctrl-C stops it; its log is "+logPath, seconds(time.Since(began)))
		in.Report.Say("\n    %s\n", address)
		if !o.NoBrowser && hasDisplay(runtime.GOOS, os.Getenv) {
			openBrowser(address)
		}
		err = in.whileServing(ctx, o.Background, ended)
	}
	exit := stopServer(cmd.Process.Pid, ended)
	switch {
	case ctx.Err() != nil:
		in.Report.Say("JupyterLab and its kernels are stopped.")
		return nil
	case err == nil && exit == nil:
		return nil
	}
	text, _ := os.ReadFile(logPath)
	return &StepError{Step: "JupyterLab ended", Err: errors.Join(err, exit), Output: tail(string(text), 8),
		Advice: "The whole log is " + logPath + "; `halftone doctor` looks at the installation."}
}

// startServer starts JupyterLab in a process group of its own; the channel gets the error it ends with.
func startServer(cmd *exec.Cmd) (ended chan error, err error) {
	ownGroup(cmd)
	dieWithParent(cmd.SysProcAttr)
	ended = make(chan error, 1)
	started := make(chan error, 1)
	go func() {
		// The kernel ties "die with the parent" to the thread that started the child, so that thread stays.
		runtime.LockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			ended <- cmd.Wait()
		}
	}()
	return ended, <-started
}

// whileServing runs background beside JupyterLab, until ctx is done or JupyterLab has ended by itself.
func (in *Installer) whileServing(ctx context.Context, background func(context.Context) error, ended chan error) error {
	beside, stop := context.WithCancel(ctx)
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		if background != nil {
			if err := background(beside); err != nil && beside.Err() == nil {
				in.Report.Say("%v\nNotebooks work; only completion does not.", err)
			}
		}
	}()
	var err error
	select {
	case <-ctx.Done():
	case err = <-ended:
		ended <- err
	}
	stop()
	<-finished
	return err
}

// labArgs is JupyterLab's command line. An option that the user gave takes the place of ours: JupyterLab refuses one that it
// gets twice.
func labArgs(py Python, root string, o LabOptions) []string {
	args := []string{"-m", "jupyterlab"}
	if py.Lab == "" {
		args = []string{"-m", "notebook"}
	}
	args = append(args, "--no-browser", "--ServerApp.root_dir="+root, "--ServerApp.ip=127.0.0.1",
		"--MultiKernelManager.default_kernel_name=halftone", "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate")
	if py.Lab != "" {
		args = append(args, "--LabApp.default_url="+startPage(root, o.Args))
	}
	if os.Geteuid() == 0 {
		args = append(args, "--ServerApp.allow_root=True")
	}
	given := map[string]bool{}
	for _, a := range o.Args {
		name, _, _ := strings.Cut(a, "=")
		given[name] = true
	}
	args = slices.DeleteFunc(args, func(a string) bool {
		name, _, valued := strings.Cut(a, "=")
		return valued && given[name]
	})
	return append(args, o.Args...)
}

// startPage is the address of the first tutorial, or of JupyterLab where there is none or the user's options serve another
// folder.
func startPage(root string, args []string) string {
	for _, a := range args {
		if strings.Contains(a, "root_dir") || strings.Contains(a, "notebook-dir") || strings.Contains(a, "notebook_dir") || strings.Contains(a, "default_url") {
			return "/lab"
		}
	}
	found, _ := filepath.Glob(filepath.Join(root, "*.ipynb"))
	if len(found) == 0 {
		return "/lab"
	}
	return "/lab/tree/" + url.PathEscape(filepath.Base(found[0]))
}

// labEnv gives JupyterLab a token of this run, unless the user has chosen one. The environment and not the command line
// carries it, since everyone on the machine may read the latter.
func labEnv(python, home string) []string {
	env := append(pythonEnv(python), "HALFTONE_HOME="+home)
	if os.Getenv("JUPYTER_TOKEN") == "" {
		env = append(env, "JUPYTER_TOKEN="+rand.Text())
	}
	return env
}

// serverFile is where a Jupyter server writes its address.
func serverFile(runtimeDir string, pid int) string {
	return filepath.Join(runtimeDir, fmt.Sprintf("jpserver-%d.json", pid))
}

// serverURL waits until the server has written its address and takes connections, and returns the address. A file from before the
// server began is one that a killed server with the same process id left behind.
func serverURL(ctx context.Context, path string, began time.Time, page string, ended chan error) (string, error) {
	deadline := time.After(2 * time.Minute)
	for {
		if b, err := readSince(path, began); err == nil {
			var s struct{ URL, Token string }
			if json.Unmarshal(b, &s) == nil && s.URL != "" && answers(s.URL) {
				address := strings.TrimSuffix(s.URL, "/") + page
				if s.Token != "" {
					address += "?token=" + s.Token
				}
				return address, nil
			}
		}
		select {
		case <-ctx.Done():
			return "", context.Cause(ctx)
		case err := <-ended:
			ended <- err
			return "", errors.New("it did not start")
		case <-deadline:
			return "", errors.New("it did not answer within 2 minutes")
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// answers says whether somebody takes connections at an address. One that can't be dialed, such as a socket in a file, is taken to be served.
func answers(address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.Port() == "" {
		return true
	}
	c, err := net.DialTimeout("tcp", u.Host, time.Second)
	if err != nil {
		return false
	}
	_ = c.Close()
	return true
}

// readSince reads a file that was written at or after a time, as far as file systems tell times apart.
func readSince(path string, since time.Time) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.ModTime().Before(since.Add(-20 * time.Millisecond)) {
		return nil, os.ErrNotExist
	}
	return os.ReadFile(path)
}

// stopServer ends the server and then whatever it had started that is still there.
func stopServer(pid int, ended chan error) error {
	family := descendants(pid)
	_ = syscall.Kill(pid, syscall.SIGTERM) // JupyterLab shuts its kernels down on this
	var err error
	select {
	case err = <-ended:
	case <-time.After(10 * time.Second):
		killGroup(pid, true)
		err = <-ended
	}
	return errors.Join(err, endAll(family, 5*time.Second))
}
