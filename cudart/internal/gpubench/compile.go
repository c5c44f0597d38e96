package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/halftone-ml/halftone/cudart/driver"
	"github.com/halftone-ml/halftone/cudart/kernels"
)

// mostCompilers is how many processes have kernels compiled at once, at most: in one the driver compiles one after another, and each holds a
// context.
const mostCompilers = 16

// compileKernels has all kernels compiled, so that they lie in the driver's cache, and then loaded from there.
func compileKernels() error {
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	n := min(mostCompilers, runtime.NumCPU())
	out := json.NewEncoder(os.Stdout)
	for _, f := range []figure{{Name: "load all kernels, each by itself", Note: "compiled by the driver where its cache was empty"}, {Name: "load all kernels again", Note: "from the driver's cache"}} {
		began := time.Now()
		errs := make([]error, n)
		var group sync.WaitGroup
		for i := range n {
			group.Go(func() {
				runtime.LockOSThread() // a process ends with the thread that started it
				defer runtime.UnlockOSThread()
				cmd := exec.Command(exe, "-compile", "-share", fmt.Sprintf("%d/%d", i, n))
				cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
				endsWithThis(cmd)
				errs[i] = cmd.Run()
			})
		}
		group.Wait()
		if err := errors.Join(errs...); err != nil {
			return err
		}
		f.Value, f.Unit, f.Note = ms(began), "ms", fmt.Sprintf("%d kernels, %d processes at once; %s", len(symbols()), n, f.Note)
		if err := out.Encode(f); err != nil {
			return err
		}
	}
	return nil
}

// symbols are all kernels in an order that brings those of one unit to different processes.
func symbols() []string {
	all := map[string]bool{}
	kernels.Symbols(func(symbol, _ string) { all[symbol] = true })
	return slices.Sorted(maps.Keys(all))
}

// compileShare loads every n-th kernel from the i-th on, as a program that needs it does. One that does not load keeps none from its turn.
func compileShare(share string) error {
	var i, n int
	if _, err := fmt.Sscanf(share, "%d/%d", &i, &n); err != nil || i < 0 || n < 1 {
		return fmt.Errorf("-share %q is not like 2/16", share)
	}
	d, err := openDriver()
	if err != nil {
		return err
	}
	dev, err := d.Device(0)
	if err != nil {
		return err
	}
	ctx, err := d.RetainContext(dev)
	if err != nil {
		return err
	}
	props, err := d.Properties(dev)
	if err != nil {
		return err
	}
	var failed []error
	err = driver.Do(d, ctx, func() error {
		list := symbols()
		for at := i; at < len(list); at += n {
			text, err := kernels.Kernel(list[at], props.Capability())
			if err == nil && text != nil {
				var m driver.Module
				if m, _, err = d.LoadModule(text, driver.JIT{}); err == nil {
					_, err = d.Function(m, list[at]) // a driver that loads lazily compiles now
				}
			}
			if err != nil {
				failed = append(failed, fmt.Errorf("%s: %w", list[at], err))
			}
		}
		return nil
	})
	return errors.Join(append(failed, err)...)
}
