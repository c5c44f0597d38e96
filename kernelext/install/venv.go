package install

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

func venvPython(venv string) string { return filepath.Join(venv, "bin", "python3") }

// completeFile is written into the environment last; what stands in it names the lock that was installed.
func completeFile(venv string) string { return filepath.Join(venv, "halftone-lock") }

// venvCurrent returns the private environment's interpreter when it holds what the lock asks for and still works.
func venvCurrent(ctx context.Context, venv string) (Python, bool) {
	mark, err := os.ReadFile(completeFile(venv))
	if err != nil || strings.TrimSpace(string(mark)) != lockHash() {
		return Python{}, false
	}
	py, err := quickProbe(ctx, venvPython(venv))
	return py, err == nil && py.HasLab()
}

// makeVenv makes or repairs the private environment with the first of the base interpreters that can. An environment that an
// interrupted run left behind is continued; one whose interpreter is gone is made anew.
func makeVenv(ctx context.Context, venv string, bases []Python, arch string, p *Progress) (Python, error) {
	if py, ok := venvCurrent(ctx, venv); ok {
		return py, nil
	}
	os.Remove(completeFile(venv))
	py, err := probePython(ctx, venvPython(venv))
	if err != nil || !py.Recent() {
		if err := os.RemoveAll(venv); err != nil {
			return Python{}, explain("removing the damaged "+venv, filepath.Dir(venv), err, "")
		}
		if err := bareVenv(ctx, venv, bases, p); err != nil {
			return Python{}, err
		}
	}
	if err := pipInstall(ctx, venv, arch, p); err != nil {
		return Python{}, err
	}
	if foreign(arch) {
		py, err = quickProbe(ctx, venvPython(venv))
	} else {
		py, err = probe(ctx, firstTime, venvPython(venv))
	}
	if err != nil {
		return Python{}, err
	}
	if !py.HasLab() {
		os.RemoveAll(venv)
		return Python{}, fmt.Errorf("JupyterLab was installed into %s but does not import (%s); it was removed: run the same command again", venv, py.Broken)
	}
	return py, os.WriteFile(completeFile(venv), []byte(lockHash()+"\n"), 0o644)
}

// bareVenv makes an environment without pip, which needs no ensurepip.
func bareVenv(ctx context.Context, venv string, bases []Python, p *Progress) error {
	var tried []string
	for _, base := range bases {
		if !base.Recent() || !base.Venv {
			continue
		}
		p.Status("making an environment with Python %s", base.Version)
		cmd := exec.Command(base.Executable, "-m", "venv", "--without-pip", venv)
		cmd.Env = pythonEnv(base.Executable)
		out, err := run(ctx, cmd, nil)
		if err == nil {
			return nil
		}
		os.RemoveAll(venv)
		if ctx.Err() != nil {
			return err
		}
		failed := explain("making an environment with "+base.Executable, filepath.Dir(venv), err, out)
		var step *StepError
		if errors.As(failed, &step) && step.Advice != "" {
			return failed // a full or read-only disk is the same for the next interpreter
		}
		tried = append(tried, failed.Error())
	}
	if len(tried) > 0 {
		return errors.New(strings.Join(tried, "\n"))
	}
	return errors.New(missingPython(bases))
}

// missingPython says what to install.
func missingPython(bases []Python) string {
	why := "no Python was found"
	for _, b := range bases {
		if b.Recent() {
			why = fmt.Sprintf("Python %s (%s) cannot make virtual environments: its module venv is missing", b.Version, b.Executable)
			break
		}
		why = fmt.Sprintf("the newest Python here is %s (%s)", b.Version, b.Executable)
	}
	return "JupyterLab needs Python 3.10 or newer; " + why + ". " + pythonAdvice(runtime.GOOS, osRelease())
}

// osRelease returns the distribution's ID and ID_LIKE words.
func osRelease() string {
	b, _ := os.ReadFile("/etc/os-release")
	var ids []string
	for line := range strings.Lines(string(b)) {
		if k, v, ok := strings.Cut(strings.TrimSpace(line), "="); ok && (k == "ID" || k == "ID_LIKE") {
			ids = append(ids, strings.Trim(v, `"'`))
		}
	}
	return strings.Join(ids, " ")
}

func pythonAdvice(goos, release string) string {
	const deb, fed, mac = "sudo apt install python3 python3-venv", "sudo dnf install python3", "brew install python"
	switch {
	case goos == "darwin":
		return "Install it with: " + mac
	case strings.Contains(release, "debian") || strings.Contains(release, "ubuntu"):
		return "Install it with: " + deb
	case strings.Contains(release, "fedora") || strings.Contains(release, "rhel"):
		return "Install it with: " + fed
	}
	return fmt.Sprintf("Install it (Debian, Ubuntu: %s; Fedora: %s; macOS: %s) and run the same command again.", deb, fed, mac)
}

// pipInstall installs the lock into the environment with the pip that we carry.
func pipInstall(ctx context.Context, venv, arch string, p *Progress) error {
	dir, err := os.MkdirTemp("", "halftone-pip")
	if err != nil {
		return explain("making a temporary folder", os.TempDir(), err, "")
	}
	defer os.RemoveAll(dir)
	for _, name := range []string{lockFile, "python/" + pipWheel} {
		b, err := pythonFiles.ReadFile(name)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(name)), b, 0o600); err != nil {
			return explain("unpacking pip", dir, err, "")
		}
	}
	pip := func(args ...string) error {
		seen := 0
		python := venvPython(venv)
		// A wheel is a zip file, and Python runs a package out of one.
		args = append([]string{filepath.Join(dir, pipWheel, "pip"), "--disable-pip-version-check", "--no-input"}, args...)
		cmd := exec.Command(python, args...)
		cmd.Env = append(append(pythonEnv(python), archEnv(arch)...), "PIP_NO_WARN_SCRIPT_LOCATION=1", "PYTHONDONTWRITEBYTECODE=1")
		cmd.Dir = dir
		out, err := run(ctx, cmd, func(line string) {
			words := strings.Fields(line)
			switch {
			case len(words) > 1 && (words[0] == "Collecting" || strings.HasPrefix(line, "Requirement already satisfied")):
				seen++
				p.Bar(seen, locked())
				p.Status("%s", words[1])
			case len(words) > 1 && words[0] == "Installing":
				p.Bar(0, 0)
				p.Status("unpacking %d packages", seen)
			}
		})
		return explain("installing JupyterLab into "+venv, filepath.Dir(venv), err, out)
	}
	install := []string{"install", "--progress-bar=off", "--no-compile", "--no-deps"} // the lock has all of them
	if err := pip(append(install, "--require-hashes", "--only-binary=:all:", "-r", filepath.Join(dir, filepath.Base(lockFile)))...); err != nil {
		return err
	}
	if old, _ := filepath.Glob(filepath.Join(venv, "lib", "python3*", "site-packages", strings.ReplaceAll(slowImport, "-", "_")+"-*.dist-info")); len(old) > 0 {
		if err := pip("uninstall", "--yes", slowImport); err != nil {
			return err
		}
	}
	// For whoever wants to add an extension to this JupyterLab.
	return pip(append(install, "--no-index", filepath.Join(dir, pipWheel))...)
}
