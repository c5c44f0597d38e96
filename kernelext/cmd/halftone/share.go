package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/cudart/libraries"
	"github.com/halftone-ml/halftone/kernelext/install"
	"github.com/halftone-ml/halftone/kernelext/layout"
	"github.com/halftone-ml/halftone/kernelext/notebook"
	"github.com/halftone-ml/halftone/kernelext/share"
)

func shareNotebook(ctx context.Context, args []string) error {
	fs := flags("share", "NOTEBOOK", "Executes a notebook and packs it with what reproduces it: the commit, versions, seeds, data with checksums and expected figures.")
	o := share.PackOptions{}
	fs.StringVar(&o.Output, "output", "", "the folder to make (default: the notebook's name with -shared)")
	fs.BoolVar(&o.Native, "native", false, "compute with this processor's fastest kernels; by default with those that give the same bits everywhere")
	fs.Func("data", "a file below the notebook's folder that cells read and do not name in a string (may be repeated)", func(s string) error {
		o.Data = append(o.Data, s)
		return nil
	})
	image := fs.String("image", "", "also build a Docker image of this name")
	timeout := fs.Duration("timeout", 600*time.Second, "longest time for one cell; 0 for no limit")
	names, err := interleaved(fs, args)
	if err != nil {
		return err
	}
	if err := inputs(ctx, "share", names); err != nil {
		return err
	}
	if err := notNegative("timeout", *timeout); err != nil {
		return err
	}
	if len(names) > 1 {
		return wrongCall("name one notebook: each is packed into a folder of its own")
	}
	if o.Output == "" {
		o.Output = strings.TrimSuffix(filepath.Base(names[0]), ".ipynb") + "-shared"
	}
	l, state, err := installation()
	if err != nil {
		return err
	}
	rec, notes, err := share.Pack(ctx, names[0], o, versions(ctx, l, state), executor(l, state, *timeout))
	if err != nil {
		return err
	}
	for _, n := range notes {
		fmt.Fprintln(os.Stderr, "note:", n)
	}
	fmt.Fprintf(stdout, "%s: %s computed with %s kernels, %s, %s; `halftone verify %s` compares\n", o.Output, counted(len(rec.Figures), "figure"), rec.Made.Kernels,
		counted(len(rec.Seeds), "seed"), counted(len(rec.Data), "data file"), o.Output)
	if *image == "" {
		return nil
	}
	return buildImage(ctx, o.Output, *image)
}

func counted(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprint(n, " ", what)
}

// buildImage lets Docker build the folder.
func buildImage(ctx context.Context, dir, name string) error {
	docker, err := exec.LookPath("docker")
	if err != nil {
		return fmt.Errorf("there is no docker command: install Docker, or take %s to a machine that has it and run `docker build -t %s %s` there", dir, name, dir)
	}
	cmd := exec.CommandContext(ctx, docker, "build", "-t", name, dir)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("docker build: %w; it needs the image halftone:cpu, which `docker compose -f docker/compose.yaml build` makes in a checkout", err)
	}
	return nil
}

func verifyNotebooks(ctx context.Context, args []string) error {
	fs := flags("verify", "[FOLDER | NOTEBOOK]…", "Executes notebooks again and compares their figures: with what `halftone share` recorded, or else with what they have saved. "+
		"Without a name it takes the current folder.")
	asJSON := fs.Bool("json", false, "print the reports as JSON, one line for each notebook")
	timeout := fs.Duration("timeout", 600*time.Second, "longest time for one cell; 0 for no limit")
	names, err := interleaved(fs, args)
	if err != nil {
		return err
	}
	if err := notNegative("timeout", *timeout); err != nil {
		return err
	}
	if len(names) == 0 {
		names = []string{"."}
	}
	var paths []string
	for _, name := range names {
		found, err := within(ctx, func() ([]string, error) { return share.Notebooks(name) })
		if err != nil {
			return err
		}
		paths = append(paths, found...)
	}
	l, state, err := installation()
	if err != nil {
		return err
	}
	here := versions(ctx, l, state)
	failed := 0
	for _, path := range paths {
		ok, err := verifyOne(ctx, path, here, executor(l, state, *timeout), *asJSON)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		if !ok {
			failed++
		}
	}
	if failed > 0 {
		fmt.Fprintf(os.Stderr, "%d of %d notebooks could not be reproduced\n", failed, len(paths))
		return errQuiet
	}
	return nil
}

func verifyOne(ctx context.Context, path string, here share.Versions, run share.Execute, asJSON bool) (bool, error) {
	rec, err := within(ctx, func() (*share.Record, error) { return share.RecordOf(path) })
	if err != nil {
		return false, err
	}
	report, err := share.Verify(ctx, path, rec, here, run)
	if err != nil {
		return false, err
	}
	if asJSON {
		b, err := json.Marshal(report)
		if err != nil {
			return false, err
		}
		fmt.Fprintf(stdout, "%s\n", b)
	} else {
		report.Print(stdout)
	}
	return report.OK(), nil
}

// executor runs notebooks through the installed kernel; progress goes to standard error.
func executor(l layout.Layout, state layout.State, timeout time.Duration) share.Execute {
	return func(ctx context.Context, path, output string, env []string) error {
		r := notebook.Runner{Python: state.Python, Env: append(install.JupyterEnv(l, state), env...), Kernel: layout.KernelName, Display: layout.DisplayName,
			Draw: []string{l.Halftone(), "render"}, Out: os.Stderr, TTY: install.IsTerminal(os.Stderr)}
		return r.Run(ctx, path, notebook.Options{Timeout: timeout, Output: output})
	}
}

// versions are those of the installation.
func versions(ctx context.Context, l layout.Layout, state layout.State) share.Versions {
	v := share.Versions{Commit: state.Commit, Source: state.Source, Go: state.GoVersion, Kernels: amp.CPUKernels(), Device: "cpu"}
	v.GoNB, _ = install.Tools[0].Installed(l)
	if libraries.Find("libcuda").Path != "" {
		v.Device = "cuda"
	}
	const ask = "import platform; from importlib.metadata import version as v; print(platform.python_version(), v('jupyterlab'))"
	cmd := exec.CommandContext(ctx, state.Python, "-c", ask)
	cmd.Dir = os.TempDir()
	if out, err := cmd.Output(); err == nil {
		v.Python, v.JupyterLab, _ = strings.Cut(strings.TrimSpace(string(out)), " ")
	}
	return v
}
