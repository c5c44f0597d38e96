package install

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

//go:embed python/probe.py
var probePy string

// A Python is an interpreter and what it can be used for.
type Python struct {
	Path       string `json:"-"`          // as it is started
	Executable string `json:"executable"` // as it names itself
	Version    string `json:"version"`
	Prefix     string `json:"prefix"`
	Venv       bool   `json:"venv"`     // the venv module is there (ensurepip is not needed)
	Lab        string `json:"lab"`      // version of jupyterlab; "" when it is missing or does not import
	Notebook   string `json:"notebook"` // version of notebook
	Client     string `json:"client"`   // version of nbclient
	Convert    string `json:"convert"`  // version of nbconvert
	DataDir    string `json:"data"`     // jupyter --data-dir
	RuntimeDir string `json:"runtime"`  // jupyter --runtime-dir
	Broken     string `json:"broken"`   // why a package that is there does not import
}

// Recent tells whether the interpreter is one that the lock file is made for.
func (p Python) Recent() bool { return !older(p.Version, 3, 10) }

// HasLab tells whether it can serve JupyterLab 4 and execute notebooks.
func (p Python) HasLab() bool {
	return p.Lab != "" && !older(p.Lab, 4, 0) && p.Client != "" && p.Convert != ""
}

// HasJupyter tells whether it has some Jupyter front end that works with our kernel, if not our choice of one.
func (p Python) HasJupyter() bool {
	return p.Client != "" && p.Convert != "" && (p.Lab != "" && !older(p.Lab, 3, 0) || p.Notebook != "" && !older(p.Notebook, 6, 0))
}

// older tells whether a dotted version is before major.minor.
func older(ver string, major, minor int) bool {
	var a, b int
	fmt.Sscanf(ver, "%d.%d", &a, &b)
	return a < major || a == major && b < minor
}

// An interpreter that has not answered after answerTime hangs. One that has just been installed compiles JupyterLab for its first answer,
// which took longer than a minute on an emulated processor.
const (
	answerTime = time.Minute
	firstTime  = 10 * time.Minute
)

// probePython asks an interpreter what it is and has, importing what it names.
func probePython(ctx context.Context, path string) (Python, error) {
	return probe(ctx, answerTime, path)
}

// quickProbe asks for the same without importing: for an interpreter that has passed a full probe before.
func quickProbe(ctx context.Context, path string) (Python, error) {
	return probe(ctx, answerTime, path, "quick")
}

// probe runs outside the current folder, where a stray jupyter.py would win.
func probe(ctx context.Context, limit time.Duration, path string, args ...string) (Python, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, append([]string{"-"}, args...)...)
	cmd.Stdin = strings.NewReader(probePy)
	cmd.Dir = os.TempDir()
	cmd.Env = pythonEnv(path)
	cmd.WaitDelay = time.Second
	var out, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &stderr
	if err := cmd.Run(); err != nil {
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			err = fmt.Errorf("no answer within %v", limit)
		}
		return Python{}, fmt.Errorf("%s does not run: %w: %s", path, err, tail(stderr.String(), 2))
	}
	p := Python{Path: path}
	if err := json.Unmarshal(out.Bytes(), &p); err != nil {
		return Python{}, fmt.Errorf("%s answered %q: %w", path, tail(out.String(), 2), err)
	}
	return p, nil
}

// pythonEnv is the environment for an interpreter: without what redirects its imports or pip's target elsewhere, and with its
// own folder first in PATH, so that its jupyter commands are the ones found.
func pythonEnv(path string) []string {
	var env []string
	for _, e := range os.Environ() {
		name, val, _ := strings.Cut(e, "=")
		switch name {
		case "PYTHONHOME", "PYTHONPATH", "PYTHONSTARTUP", "PYTHONINSPECT", "PYTHONDONTWRITEBYTECODE", "VIRTUAL_ENV",
			"PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PIP_USER", "PIP_REQUIRE_VIRTUALENV", "PIP_REQUIREMENT", "PIP_CONSTRAINT",
			"PIP_NO_BINARY", "PIP_PYTHON", "PIP_DRY_RUN":
		case "PATH":
			env = append(env, "PATH="+filepath.Dir(path)+string(os.PathListSeparator)+val)
		default:
			env = append(env, e)
		}
	}
	return append(env, "PYTHONUTF8=1")
}

// systemDirs are looked at even when PATH does not name them.
var systemDirs = []string{"/opt/homebrew/bin", "/usr/local/bin", "/usr/bin"}

// pythonCandidates lists the interpreters to ask, the likeliest first, each once: the one behind jupyter-lab in PATH, the
// active virtual environment, then every python3 of PATH and of the places that macOS and Linux installers use.
func pythonCandidates() []string {
	var found []string
	add := func(path string) {
		if path == "" {
			return
		}
		if st, err := os.Stat(path); err == nil && !st.IsDir() && st.Mode()&0o111 != 0 && !slices.Contains(found, path) {
			found = append(found, path)
		}
	}
	for _, name := range []string{"jupyter-lab", "jupyter"} {
		if script, err := exec.LookPath(name); err == nil {
			add(interpreterOf(script))
		}
	}
	for _, v := range []string{"VIRTUAL_ENV", "CONDA_PREFIX"} {
		if dir := os.Getenv(v); dir != "" {
			add(filepath.Join(dir, "bin", "python3"))
		}
	}
	dirs := filepath.SplitList(os.Getenv("PATH"))
	names := []string{"python3", "python3.14", "python3.13", "python3.12", "python3.11", "python3.10", "python"}
	for _, name := range names[:1] {
		for _, dir := range dirs {
			add(filepath.Join(dir, name))
		}
	}
	dirs = append(dirs, systemDirs...)
	for _, name := range names {
		for _, dir := range dirs {
			add(filepath.Join(dir, name))
		}
	}
	return found
}

// interpreterOf reads the first line of a script such as jupyter-lab.
func interpreterOf(script string) string {
	f, err := os.Open(script)
	if err != nil {
		return ""
	}
	defer f.Close()
	buf := make([]byte, 512)
	n, _ := f.Read(buf)
	line, _, ok := strings.Cut(string(buf[:n]), "\n")
	if !ok || !strings.HasPrefix(line, "#!") {
		return ""
	}
	words := strings.Fields(line[2:])
	if len(words) == 2 && filepath.Base(words[0]) == "env" {
		path, _ := exec.LookPath(words[1])
		return path
	}
	if len(words) >= 1 && strings.Contains(filepath.Base(words[0]), "python") {
		return words[0]
	}
	return ""
}
