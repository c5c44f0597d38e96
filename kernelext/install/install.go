// Package install puts everything that the kernel needs onto a machine, says what is missing, takes it away again, and
// starts JupyterLab. It needs Go and Python; all else it builds or downloads at pinned versions into one folder.
//
// Every step looks first whether its result is there and current, so running an installation again costs next to nothing,
// and one that was cut off continues where it stopped.
package install

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/halftone-ml/halftone/kernelext/layout"
)

// An Installer installs from one checkout into one home.
type Installer struct {
	Layout   layout.Layout
	Checkout string    // module root
	Report   *Reporter // progress
	Python   string    // use this interpreter; "" finds one
	Private  bool      // make a private environment even if there is a JupyterLab
	Arch     string    // the processor that all is for, as Go calls it; "" is this one, another makes a private environment

	goCmd, goVersion string
	commit, source   string
	rebuilt          bool
	python           Python
	data             string // Jupyter data folder that gets kernelspec and front end
}

// Install brings the installation up to date. With it JupyterLab can start; completion comes with Completion.
func (in *Installer) Install(ctx context.Context) error {
	if err := checkArch(in.Arch); err != nil {
		return err
	}
	in.Private = in.Private || foreign(in.Arch)
	release, err := guard(ctx, in.Layout.Home, in.Report)
	if err != nil {
		return err
	}
	defer release()
	if err := in.prepare(ctx); err != nil {
		return err
	}
	if err := in.Report.Phase("halftone", func(p *Progress) (string, error) { return in.buildBinary(ctx, p) }); err != nil {
		return err
	}
	if err := in.handOver(release); err != nil {
		return err
	}
	// Python waits for the network and Go for the processor: together they take little longer than either.
	var wg sync.WaitGroup
	errs := make([]error, 2)
	wg.Go(func() {
		errs[0] = in.Report.Phase("JupyterLab", func(p *Progress) (string, error) { return in.choosePython(ctx, p) })
	})
	wg.Go(func() { errs[1] = in.goParts(ctx) })
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return in.Report.Phase("kernel", func(p *Progress) (string, error) { return in.register() })
}

// prepare finds Go and reads what the checkout is.
func (in *Installer) prepare(ctx context.Context) error {
	return in.Report.Phase("Go", func(p *Progress) (string, error) {
		var err error
		if in.goCmd, in.goVersion, err = FindGo(ctx, in.Checkout); err != nil {
			return "", err
		}
		if in.source, err = Fingerprint(in.Checkout); err != nil {
			return "", err
		}
		in.commit = Commit(in.Checkout)
		if free, err := FreeBytes(in.Layout.Home); err == nil && free < 200<<20 {
			return "", &StepError{Step: "looking at the disk", Err: fmt.Errorf("%d MB are free under %s", free>>20, in.Layout.Home),
				Advice: "Free about 2 GB, or point HALFTONE_HOME at a larger disk."}
		}
		return fmt.Sprintf("%s (%s)", in.goVersion, in.goCmd), nil
	})
}

// goParts builds what cells need, then compiles what they import.
func (in *Installer) goParts(ctx context.Context) error {
	for _, t := range Tools[:2] {
		if err := in.Report.Phase(t.Name, func(p *Progress) (string, error) { return t.build(ctx, in, p) }); err != nil {
			return err
		}
	}
	if err := in.Report.Phase("modules", func(p *Progress) (string, error) { return in.fillProxy(ctx, p) }); err != nil {
		return err
	}
	return in.Report.Phase("warm-up", func(p *Progress) (string, error) { return in.warm(ctx, p) })
}

// Completion builds gopls, without which cells run but nothing completes. It comes last since it takes longest.
func (in *Installer) Completion(ctx context.Context) error {
	release, err := guard(ctx, in.Layout.Home, in.Report)
	if err != nil {
		return err
	}
	defer release()
	gopls := Tools[2]
	return in.Report.Phase(gopls.Name, func(p *Progress) (string, error) { return gopls.build(ctx, in, p) })
}

// CompletionCurrent tells whether Completion has nothing to do.
func (in *Installer) CompletionCurrent() bool {
	pinned, err := Tools[2].Pinned(in.Checkout)
	return err == nil && Tools[2].current(in.Layout, pinned, in.goVersion)
}

// choosePython settles on an interpreter with JupyterLab 4: the one that was named, the one of last time, one that is there,
// a private environment, or failing that any Jupyter.
func (in *Installer) choosePython(ctx context.Context, p *Progress) (string, error) {
	venv := in.Layout.Venv()
	use := func(py Python, private bool) (string, error) {
		in.python, in.data = py, py.DataDir
		where := py.Path
		if private {
			in.data, where = filepath.Join(venv, "share", "jupyter"), "private"
		}
		if py.Lab == "" {
			return fmt.Sprintf("notebook %s, Python %s (%s)", py.Notebook, py.Version, where), nil
		}
		return fmt.Sprintf("%s, Python %s (%s)", py.Lab, py.Version, where), nil
	}
	var bases []Python
	if in.Python != "" {
		py, err := probePython(ctx, in.Python)
		if err != nil {
			return "", err
		}
		if py.HasLab() && !in.Private {
			return use(py, false)
		}
		bases = []Python{py}
	} else {
		if _, err := os.Stat(completeFile(venv)); err == nil {
			if py, ok := venvCurrent(ctx, venv); ok {
				return use(py, true)
			}
		} else if last, err := in.Layout.Load(); err == nil && !in.Private {
			if py, err := quickProbe(ctx, last.Python); err == nil && py.HasLab() && py.Path != venvPython(venv) {
				return use(py, false)
			}
		}
		for _, path := range pythonCandidates() {
			p.Status("looking at %s", path)
			py, err := probePython(ctx, path)
			if err != nil {
				continue
			}
			if py.HasLab() && !in.Private {
				return use(py, false)
			}
			bases = append(bases, py)
		}
	}
	py, err := makeVenv(ctx, venv, bases, in.Arch, p)
	if err == nil {
		return use(py, true)
	}
	if ctx.Err() == nil && !foreign(in.Arch) {
		for _, b := range bases {
			if b.HasJupyter() {
				in.Report.Say("A private JupyterLab could not be made: %v\nThe older Jupyter of %s is used instead.", err, b.Path)
				return use(b, false)
			}
		}
	}
	return "", err
}

// register shows the kernel and the front end to Jupyter and records the installation.
func (in *Installer) register() (string, error) {
	last, _ := in.Layout.Load()
	if last.Data != "" && last.Data != in.data {
		removeFrom(in.Layout, last.Data)
	}
	if _, err := installKernelspec(in.Layout, in.data); err != nil {
		return "", err
	}
	if _, err := installFrontEnd(in.Layout, in.data); err != nil {
		return "", err
	}
	state := layout.State{Checkout: in.Checkout, Commit: in.commit, Source: in.source, Go: in.goCmd, Python: in.python.Path, Data: in.data,
		GoVersion: in.goVersion}
	if err := in.Layout.Save(state); err != nil {
		return "", explain("recording the installation", in.Layout.Home, err, "")
	}
	return fmt.Sprintf("%q in %s", layout.DisplayName, kernelDir(in.data)), nil
}
