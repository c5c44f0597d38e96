package install

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/halftone-ml/halftone/kernelext/layout"
)

// isolate points everything that the installer looks at into a fresh folder, and returns it.
func isolate(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, value := range map[string]string{
		"HOME": filepath.Join(dir, "user"), "XDG_DATA_HOME": "", "JUPYTER_DATA_DIR": filepath.Join(dir, "jupyter"),
		layout.HomeEnv: filepath.Join(dir, "home"), "VIRTUAL_ENV": "", "CONDA_PREFIX": "", "JUPYTER_PATH": "",
	} {
		t.Setenv(name, value)
	}
	if err := os.MkdirAll(filepath.Join(dir, "user"), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func script(t *testing.T, path, content string) {
	t.Helper()
	write(t, path, content)
	if err := os.Chmod(path, 0o755); err != nil {
		t.Fatal(err)
	}
}

// fakePython writes an interpreter that answers a probe with the given facts and records every other call in calls.
// Asked for a virtual environment, it makes one whose interpreter is itself, or fails with failVenv.
func fakePython(t *testing.T, path string, p Python, failVenv string) (calls string) {
	t.Helper()
	calls = path + ".calls"
	answer := func(p Python) string {
		b, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	p.Executable = path
	labbed := p
	labbed.Lab, labbed.Client, labbed.Convert = "4.6.6", "0.11", "7.17"
	script(t, path, `#!/bin/sh
self="$0"
if [ "$1" = "-" ]; then
	cat >/dev/null
	if [ -f "$(dirname "$self")/../has-lab" ]; then
		echo '`+answer(labbed)+`'
	else
		echo '`+answer(p)+`'
	fi
	exit 0
fi
echo "$@" >> `+calls+`
case "$*" in
"-m venv"*)
	`+failVenvScript(failVenv)+`
	for last; do :; done
	mkdir -p "$last/bin"
	cp "`+path+`" "$last/bin/python3"
	;;
*--require-hashes*)
	touch "$(dirname "$self")/../has-lab"
	;;
esac
`)
	return calls
}

func failVenvScript(text string) string {
	if text == "" {
		return ""
	}
	return fmt.Sprintf("echo %q; exit 1", text)
}

// newInstaller returns an installer for a made-up checkout, with what it prints.
func newInstaller(t *testing.T) (*Installer, *bytes.Buffer) {
	t.Helper()
	l, err := layout.Default()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	checkout := t.TempDir()
	write(t, filepath.Join(checkout, "go.mod"), "module "+Module+"\n\ngo 1.26\n")
	write(t, filepath.Join(checkout, "go.sum"), "")
	write(t, filepath.Join(checkout, "kernelext", "cmd", "halftone-go", "main.go"), "package main\n\nfunc main() {}\n")
	return &Installer{Layout: l, Checkout: checkout, Report: NewReporter(&out)}, &out
}

// choose runs choosePython as Install does.
func choose(t *testing.T, in *Installer) (string, error) {
	t.Helper()
	var detail string
	err := in.Report.Phase("JupyterLab", func(p *Progress) (string, error) {
		var err error
		detail, err = in.choosePython(context.Background(), p)
		return detail, err
	})
	return detail, err
}
