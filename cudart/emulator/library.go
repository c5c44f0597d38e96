package emulator

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/halftone-ml/halftone/cudart"
	"github.com/halftone-ml/halftone/cudart/driver"
)

func init() { cudart.UseEmulator(Library, fence) }

// CheckedEnv names the variable that makes Library return the checked library, when it is "1".
const CheckedEnv = "HALFTONE_EMULATOR_CHECKED"

// SanitizeEnv names the variable that makes Library return the library with the compiler's sanitizers, when it is "1", or "small": then those units
// are left as they are whose kernels amp's op table with its small cases launches none of. The program has to be started as SanitizerEnv says.
const SanitizeEnv = "HALFTONE_EMULATOR_SANITIZE"

// notSmall are those units.
var notSmall = []string{"attention_any", "attention_mma", "attention_mma_grad", "attention_f32", "attention_f32_grad", "gemm_mma", "gemm_wgmma", "running", "update",
	"update_more", "scaler", "health", "clip"}

// Library returns the path of the library with Halftone's kernels, to be opened as the driver's. The first call compiles it; an
// error says what is missing.
func Library() (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	o := Options{Checked: os.Getenv(CheckedEnv) == "1", Sanitize: os.Getenv(SanitizeEnv) == "1", PTX: os.Getenv(PTXEnv) == "1"}
	if os.Getenv(SanitizeEnv) == "small" {
		o.Sanitize, o.Unsanitized = true, notSmall
	}
	if !quiet(os.Getenv("HALFTONE_EMULATOR")) {
		o.Compiling = func() {
			fmt.Fprintln(os.Stderr, "halftone: the CUDA emulator is compiled from C++, which takes a minute or two on two cores; it is kept, and the next program finds it")
		}
	}
	return Build(ctx, o)
}

// quiet says whether the settings of HALFTONE_EMULATOR ask for no words.
func quiet(settings string) bool {
	return slices.Contains(strings.FieldsFunc(settings, func(r rune) bool { return r == ',' || r == ' ' || r == ';' }), "quiet=1")
}

// Kernels returns the names of the kernels in a library that is open.
func Kernels(d driver.Driver) ([]string, error) {
	h, err := open(d)
	if err != nil {
		return nil, err
	}
	return h.kernels(), nil
}

// Control changes the settings of a library that is open: the same "name=value" pairs that HALFTONE_EMULATOR takes. seed, order,
// threads, quiet and inject act at once; the others only before the first device is opened.
func Control(d driver.Driver, settings string) error {
	h, err := open(d)
	if err != nil {
		return err
	}
	if wrong := h.control(settings); wrong != "" {
		return fmt.Errorf("emulator: %s", wrong)
	}
	return nil
}

// Report returns what the emulated device has said since the last call: accesses that were not allowed, memory that was freed
// twice, leaks at the end of a context, errors that were injected. It forgets it then.
func Report(d driver.Driver) ([]string, error) {
	h, err := open(d)
	if err != nil {
		return nil, err
	}
	text := strings.TrimSuffix(h.report(), "\n")
	if text == "" {
		return nil, nil
	}
	return strings.Split(text, "\n"), nil
}

// Reset ends the primary context of a device, whoever holds it: what was allocated is reported as leaked, and a device that was
// lost works again. Programs can't do that with a real device.
func Reset(d driver.Driver, device int) error {
	h, err := open(d)
	if err != nil {
		return err
	}
	if code := h.reset(device); code != 0 {
		return fmt.Errorf("emulator: device %d can't be reset: CUDA error %d", device, code)
	}
	return nil
}

// Beside returns the path of the stand-in for another of NVIDIA's libraries: "libcublas.so.13", "libnvrtc.so.13".
func Beside(library, name string) string { return filepath.Join(filepath.Dir(library), name) }
