package kernel

import (
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/cudart/libraries"
	"github.com/halftone-ml/halftone/kernelext/magic"
	"github.com/halftone-ml/halftone/widgets"
)

// newMagics makes what answers the %amp lines of a kernel with the given private folder.
func newMagics(opts Options, dir string) (*magic.Engine, error) {
	e := &magic.Engine{
		File:     filepath.Join(dir, defaultsName),
		Versions: versions(opts),
		Devices:  devices,
		Doctor:   opts.Doctor,
		Usage:    func() (magic.Usage, bool) { return readUsage(filepath.Join(dir, usageName)) },
	}
	if err := e.Reset(); err != nil {
		return nil, fmt.Errorf("kernel: %w", err)
	}
	return e, nil
}

// versions of what takes part in running a cell. GoNB v0.11.4 says v0.11.1 of itself; what the compiler stamped into it is right.
func versions(opts Options) [][2]string {
	gonb := "unknown"
	if info, err := buildinfo.ReadFile(opts.GoNB); err == nil {
		for _, m := range append(info.Deps, &info.Main) { // its own module, or one that only pins it
			if m.Path == "github.com/janpfeifer/gonb" {
				gonb = m.Version
			}
		}
	}
	goVersion := opts.GoVersion
	if goVersion == "" {
		goVersion = runtime.Version()
	}
	return [][2]string{
		{"Halftone", opts.Version},
		{"GoNB", gonb},
		{"Go", strings.TrimPrefix(goVersion, "go")},
		{"Jupyter protocol", protocolVersion},
		{"traces", amp.TraceSchema},
		{"figures", widgets.Schema},
	}
}

// devices lists what cells can run on, without opening any: a device that the kernel held would be taken from them.
func devices() []magic.Device {
	list := []magic.Device{{Name: "cpu", Detail: fmt.Sprintf("%d threads, %s", runtime.NumCPU(), runtime.GOARCH)}}
	if os.Getenv(libraries.ModeEnv) == libraries.ModeEmulator {
		return append(list, magic.Device{Name: "cuda:0", Detail: "emulated on the CPU, for tests"})
	}
	for _, lib := range libraries.Discover() {
		if !lib.Required {
			continue
		}
		d := magic.Device{Name: "cuda:0"}
		if lib.Path == "" {
			return append(list, magic.Device{Name: "cuda", Err: "no " + lib.Name + " is found: " + lib.Use + " of an NVIDIA GPU"})
		}
		d.Detail = lib.Use + " is " + lib.Path
		gpus, _ := filepath.Glob("/proc/driver/nvidia/gpus/*/information")
		for i, file := range gpus {
			b, _ := os.ReadFile(file)
			_, model, _ := strings.Cut(string(b), "Model:")
			model, _, _ = strings.Cut(model, "\n")
			list = append(list, magic.Device{Name: fmt.Sprintf("cuda:%d", i), Detail: strings.TrimSpace(model)})
		}
		if len(gpus) == 0 {
			list = append(list, d)
		}
	}
	return list
}

// readUsage reads what the last %%amp cell left.
func readUsage(file string) (magic.Usage, bool) {
	var u magic.Usage
	b, err := os.ReadFile(file)
	return u, err == nil && json.Unmarshal(b, &u) == nil
}
