package driver

import (
	"fmt"
	"sync"
)

// SelectEnv names the variable that picks the device: "emulator" is the emulated one.
const SelectEnv = "HALFTONE_CUDA"

var emulator struct {
	sync.Mutex
	library func() (string, error)
}

// RegisterEmulator tells where the emulated driver's library comes from. Package emulator calls it when it is imported, so that
// programs which do not import it hold none of it.
func RegisterEmulator(library func() (string, error)) {
	emulator.Lock()
	defer emulator.Unlock()
	emulator.library = library
}

// EmulatorLibrary returns the path of the emulated driver's library, to be given to Open. The first call may compile it.
func EmulatorLibrary() (string, error) {
	emulator.Lock()
	defer emulator.Unlock()
	if emulator.library == nil {
		return "", fmt.Errorf("%w: %s=emulator needs the emulator in the program: import _ %q", ErrNoCUDA, SelectEnv, "github.com/halftone-ml/halftone/cudart/emulator")
	}
	return emulator.library()
}
