// Package layout says where an installed Halftone keeps its parts. Everything private to Halftone lives under one folder,
// so that uninstalling is removing it; the kernelspec that Jupyter finds is the only thing outside.
package layout

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/halftone-ml/halftone/internal/wholefile"
)

// HomeEnv names the variable that moves the folder of everything private to Halftone.
const HomeEnv = "HALFTONE_HOME"

// KernelName is the kernelspec's directory name and DisplayName what users pick in Jupyter.
const (
	KernelName  = "halftone"
	DisplayName = "Go (AMP)"
)

// A Layout locates the parts under Home.
type Layout struct{ Home string }

// Default returns the layout under $HALFTONE_HOME, or under the user's data folder.
func Default() (Layout, error) {
	if home := os.Getenv(HomeEnv); home != "" {
		abs, err := filepath.Abs(home)
		return Layout{abs}, err
	}
	data := os.Getenv("XDG_DATA_HOME")
	if data == "" {
		user, err := os.UserHomeDir()
		if err != nil {
			return Layout{}, fmt.Errorf("halftone: no home directory: %w; set %s to a folder you can write", err, HomeEnv)
		}
		data = filepath.Join(user, ".local", "share")
		if runtime.GOOS == "darwin" {
			data = filepath.Join(user, "Library", "Application Support")
		}
	}
	return Layout{filepath.Join(data, "halftone")}, nil
}

// Bin is the folder of the binaries below; the kernel puts it first in PATH.
func (l Layout) Bin() string { return filepath.Join(l.Home, "bin") }

// Halftone is the installed binary that the kernelspec starts.
func (l Layout) Halftone() string { return filepath.Join(l.Bin(), "halftone") }

// GoNB is the pinned stock kernel that runs behind ours.
func (l Layout) GoNB() string { return filepath.Join(l.Bin(), "gonb") }

// CellGo is what GoNB finds as the go command; see package cellgo.
func (l Layout) CellGo() string { return filepath.Join(l.Bin(), "halftone-go") }

// Venv is the private Python environment, present when no JupyterLab 4 was found.
func (l Layout) Venv() string { return filepath.Join(l.Home, "venv") }

// Proxy is a Go module proxy of files: the pinned modules that cells may import without a network.
func (l Layout) Proxy() string { return filepath.Join(l.Home, "goproxy") }

// Tmp is the folder under which each running kernel makes its own.
func (l Layout) Tmp() string { return filepath.Join(l.Home, "tmp") }

// StateFile records what was installed.
func (l Layout) StateFile() string { return filepath.Join(l.Home, "install.json") }

// A State is what an installation was made from.
type State struct {
	Checkout string `json:"checkout"` // module root that cells import
	Commit   string `json:"commit"`   // its commit then; "" outside git
	Source   string `json:"source"`   // fingerprint of the sources the binary was built from
	Go       string `json:"go"`       // path of the go command
	Python   string `json:"python"`   // interpreter that has JupyterLab
	Data     string `json:"data"`     // Jupyter data folder that holds the kernelspec and the front end

	GoVersion string `json:"go_version"` // e.g. "go1.26.1"
}

// ErrNotInstalled is returned by Load before the first install.
var ErrNotInstalled = errors.New("halftone is not installed: run `make lab` (or `go run ./kernelext/cmd/halftone install`) in the checkout")

// Load reads the state of the installation.
func (l Layout) Load() (State, error) {
	var s State
	b, err := os.ReadFile(l.StateFile())
	if errors.Is(err, fs.ErrNotExist) {
		return s, ErrNotInstalled
	}
	if err != nil {
		return s, err
	}
	if err := json.Unmarshal(b, &s); err != nil {
		return s, fmt.Errorf("%s is damaged (%w): remove it and install again", l.StateFile(), err)
	}
	return s, nil
}

// Save writes the state so that a crash leaves the old one or the new one.
func (l Layout) Save(s State) error {
	b, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(l.Home, 0o700); err != nil {
		return err
	}
	return wholefile.Write(l.StateFile(), append(b, '\n'), 0o600)
}
