package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/halftone-ml/halftone/kernelext/install"
	"github.com/halftone-ml/halftone/kernelext/layout"
)

func installAll(ctx context.Context, args []string) error {
	fs := flags("install", "", "Installs or updates everything, without starting JupyterLab.")
	newInstaller := installerFlags(fs)
	arch := fs.String("arch", "", "install for another processor, as an image for it is made of: amd64 or arm64")
	completion := fs.Bool("completion", true, "also build gopls, which completes code and takes longest; cells run without it")
	if err := parseBare(fs, args); err != nil {
		return err
	}
	in, err := newInstaller()
	if err != nil {
		return err
	}
	in.Arch = *arch
	if err := in.Install(ctx); err != nil {
		return err
	}
	if *completion {
		if err := in.Completion(ctx); err != nil {
			return err
		}
	}
	in.Report.Say("Ready: `make lab` opens JupyterLab; the kernel is called %q.", layout.DisplayName)
	return nil
}

func lab(ctx context.Context, args []string) error {
	fs := flags("lab", "[-- JUPYTER OPTIONS]", "Installs what is missing and opens JupyterLab on the tutorials. JupyterLab's own options come after --:\n"+
		"    halftone lab -- --port 8889        make lab ARGS='-- --port 8889'")
	newInstaller := installerFlags(fs)
	o := install.LabOptions{}
	fs.BoolVar(&o.NoBrowser, "no-browser", false, "print the address and open no browser")
	fs.BoolVar(&o.Verbose, "verbose", false, "print JupyterLab's log here")
	if err := parse(fs, args); err != nil {
		return err
	}
	o.Args = fs.Args()
	in, err := newInstaller()
	if err != nil {
		return err
	}
	ctx, cancel := watchGoRun(ctx)
	defer cancel()
	if err := in.Install(ctx); err != nil {
		return err
	}
	if !in.CompletionCurrent() {
		in.Report.Say("gopls is still missing: it is built while you read, and completion works in kernels started after that.")
		o.Background = in.Completion
	}
	return in.Lab(ctx, o)
}

// watchGoRun ends ctx when `go run`, which started us, is gone: it dies of a SIGTERM without passing it on.
func watchGoRun(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	self, _ := os.Executable()
	if parent := os.Getppid(); strings.Contains(self, "go-build") || filepath.Base(filepath.Dir(self)) == "exe" {
		go func() {
			for ctx.Err() == nil {
				if os.Getppid() != parent {
					cancel(errors.New("the command that started this one is gone"))
				}
				time.Sleep(500 * time.Millisecond)
			}
		}()
	}
	return ctx, func() { cancel(nil) }
}

func uninstall(_ context.Context, args []string) error {
	fs := flags("uninstall", "", "Removes the kernel from Jupyter and the folder that everything was installed into.")
	if err := parseBare(fs, args); err != nil {
		return err
	}
	l, err := layout.Default()
	if err != nil {
		return err
	}
	removed, err := install.Uninstall(l)
	for _, path := range removed {
		fmt.Fprintln(stdout, "removed", path)
	}
	if err == nil && len(removed) == 0 {
		fmt.Fprintln(stdout, "nothing was installed in", l.Home)
	}
	if err == nil {
		fmt.Fprintln(stdout, "Go's build cache and module cache stay; `go clean -cache -modcache` empties them.")
	}
	return err
}
