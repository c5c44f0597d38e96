//go:build gorgonia_cu

package gorgoniacu

import (
	"errors"
	"reflect"
	"slices"
	"testing"

	"github.com/halftone-ml/halftone/cudart/driver"
	"github.com/halftone-ml/halftone/cudart/driver/drivertest"
)

func TestMain(m *testing.M) { drivertest.Main(m, Open) }

// The suite of every driver, but for what Unsupported says.
func TestSuite(t *testing.T) {
	d, err := Open()
	if err != nil {
		t.Fatal(err)
	}
	drivertest.Run(t, drivertest.Config{Driver: d, Unsupported: []string{"async", "pools", "capture", "export", "ipc"}})
}

// Every method of the list refuses, and says which driver has it; no other does so.
func TestUnsupported(t *testing.T) {
	d := reflect.TypeFor[driver.Driver]()
	v := reflect.ValueOf(cuDriver{})
	for _, name := range Unsupported {
		m, ok := d.MethodByName(name)
		if !ok {
			t.Errorf("driver.Driver has no method %s", name)
			continue
		}
		in := make([]reflect.Value, m.Type.NumIn())
		for i := range in {
			in[i] = reflect.Zero(m.Type.In(i))
		}
		out := v.MethodByName(name).Call(in)
		if err, _ := out[len(out)-1].Interface().(error); !errors.Is(err, driver.ErrUnsupported) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if !slices.Contains(Unsupported, "BeginCapture") {
		t.Error("the list is empty of what it is about")
	}
}
