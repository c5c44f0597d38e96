// Package kernel is the Jupyter kernel of Halftone: a proxy in front of stock GoNB that passes the Jupyter protocol
// through and adds what GoNB cannot do. Figures get their pictures on the way to the front end, each cell can find out
// which line of which cell it was compiled from, and a GoNB that dies is reported and started again.
package kernel

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/halftone-ml/halftone/kernelext/magic"
)

// Options say what Run starts and how.
type Options struct {
	// GoNB is the program that runs cells; required.
	GoNB string

	// Go is the program that GoNB finds as the go command (package cellgo); "" leaves it the one in PATH.
	Go string

	// Checkout is the module root that cells import from; "" for none.
	Checkout string

	// Env is GoNB's environment, and so the cells'; nil means this process's.
	Env []string

	// Tmp is the folder under which the kernel makes its private one; "" means the system's.
	Tmp string

	// Draw returns the faces (by MIME type) of the figure whose JSON is raw. Nil leaves figures as they come.
	Draw func(raw []byte) (map[string]any, error)

	// Doctor looks at the installation, for %amp doctor; nil leaves that to the command.
	Doctor func(ctx context.Context) ([]magic.Check, error)

	// Version is shown in the banner.
	Version string

	// GoVersion is the version of Go that cells are compiled with, shown as the language's; "" leaves it out.
	GoVersion string

	// Driver says whether there is an NVIDIA driver; nil looks for one.
	Driver func() bool

	// Log receives GoNB's own log; nil drops it (its end is in the error message when GoNB dies).
	Log io.Writer
}

func (o *Options) complete() error {
	if o.GoNB == "" {
		return errors.New("kernel: Options.GoNB is not set: it names the GoNB program")
	}
	if strings.Contains(o.Checkout, ",") {
		return fmt.Errorf("kernel: the checkout's path %q has a comma, which GoNB takes for the end of it: move the checkout and install again", o.Checkout)
	}
	if _, err := os.Stat(o.GoNB); err != nil {
		return errors.Join(errors.New("kernel: GoNB is not there: install again"), err)
	}
	abs, err := filepath.Abs(o.GoNB) // cells may change directory
	if err != nil {
		return err
	}
	o.GoNB = abs
	if o.Go != "" {
		if o.Go, err = filepath.Abs(o.Go); err != nil {
			return err
		}
	}
	if o.Env == nil {
		o.Env = os.Environ()
	}
	if o.Tmp == "" {
		o.Tmp = os.TempDir()
	}
	if o.Driver == nil {
		o.Driver = hasDriver
	}
	if o.Version == "" {
		o.Version = "dev"
	}
	return nil
}
