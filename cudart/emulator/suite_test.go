//go:build linux && (amd64 || arm64)

package emulator

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/halftone-ml/halftone/cudart/driver"
	"github.com/halftone-ml/halftone/cudart/driver/drivertest"
)

// libraryEnv carries the library to the processes that the driver suite starts.
const libraryEnv = "HALFTONE_EMULATOR_TEST_LIBRARY"

var suiteLibrary, noLibrary = "", error(nil)

func TestMain(m *testing.M) {
	suiteLibrary = os.Getenv(libraryEnv)
	if suiteLibrary == "" {
		if os.Getenv("HALFTONE_HOME") == "" { // the checkout's ignored folder, so that tests leave the user's cache alone
			home, err := filepath.Abs("../../.halftone/home")
			if err != nil {
				panic(err)
			}
			os.Setenv("HALFTONE_HOME", home)
		}
		var err error
		suiteLibrary, err = Build(context.Background(), Options{Kernels: testKernels()})
		if err != nil && !errors.Is(err, ErrUnavailable) {
			fmt.Println(err)
			os.Exit(1)
		}
		noLibrary = err
		os.Setenv(libraryEnv, suiteLibrary)
	}
	code := drivertest.Main(m, func() (driver.Driver, error) { return driver.Open(suiteLibrary) })
	removePrograms()
	os.Exit(code)
}

// testKernels are the driver suite's and those of testdata.
func testKernels() fs.FS {
	all := fstest.MapFS{}
	for _, from := range []fs.FS{drivertest.Sources, os.DirFS("testdata")} {
		names, _ := fs.Glob(from, "*.cu")
		for _, name := range names {
			data, err := fs.ReadFile(from, name)
			if err != nil {
				panic(err)
			}
			all[name] = &fstest.MapFile{Data: data}
		}
	}
	return all
}

// opened returns the driver on the suite's library, or skips the test where there is none.
func opened(t *testing.T) driver.Driver {
	t.Helper()
	if noLibrary != nil {
		t.Skip(noLibrary)
	}
	d, err := driver.Open(suiteLibrary)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestDriverSuite runs what every driver has to pass, in each order of threads.
func TestDriverSuite(t *testing.T) {
	d := opened(t)
	for _, settings := range []string{"seed=1,order=forward", "seed=2,order=reversed", "seed=3,order=shuffled,threads=1"} {
		t.Run(settings, func(t *testing.T) {
			if err := Control(d, settings+",quiet=1"); err != nil {
				t.Fatal(err)
			}
			drivertest.Run(t, drivertest.Config{Driver: d})
		})
	}
}
