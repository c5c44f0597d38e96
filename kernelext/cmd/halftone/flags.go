package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/halftone-ml/halftone/kernelext/install"
	"github.com/halftone-ml/halftone/kernelext/layout"
)

// flags returns a flag set whose errors are one sentence and whose help shows how the command is called.
func flags(name, args, about string) *flag.FlagSet {
	fs := flag.NewFlagSet("halftone "+name, flag.ContinueOnError)
	fs.Usage = func() {
		fmt.Fprintf(fs.Output(), "usage: halftone %s [options] %s\n\n%s\n\noptions:\n", name, args, about)
		fs.PrintDefaults()
	}
	return fs
}

// parse parses the options; asking for help or a wrong option ends the command.
func parse(fs *flag.FlagSet, args []string) error {
	if err := fs.Parse(args); err != nil {
		return errUsage
	}
	return nil
}

// interleaved parses options that may stand before, between and after the names.
func interleaved(fs *flag.FlagSet, args []string) (names []string, err error) {
	for {
		if err := parse(fs, args); err != nil {
			return nil, err
		}
		args = fs.Args()
		if len(args) == 0 {
			return names, nil
		}
		names, args = append(names, args[0]), args[1:]
	}
}

// installerFlags are shared by the commands that install.
func installerFlags(fs *flag.FlagSet) func() (*install.Installer, error) {
	checkout := fs.String("checkout", "", "the checkout that cells import from (default: the one around the current folder, or the installed one)")
	python := fs.String("python", "", "use this Python interpreter")
	private := fs.Bool("private", false, "make a private JupyterLab even if there is one already")
	return func() (*install.Installer, error) {
		l, err := layout.Default()
		if err != nil {
			return nil, err
		}
		dir, err := findCheckout(*checkout, l)
		if err != nil {
			return nil, err
		}
		return &install.Installer{Layout: l, Checkout: dir, Report: install.NewReporter(os.Stdout), Python: *python, Private: *private}, nil
	}
}

// findCheckout prefers the named folder, then the current one, then the checkout of the installation.
func findCheckout(named string, l layout.Layout) (string, error) {
	if named != "" {
		return install.FindCheckout(named)
	}
	dir, err := install.FindCheckout(".")
	if err == nil {
		return dir, nil
	}
	if state, loadErr := l.Load(); loadErr == nil {
		return install.InstalledCheckout(state)
	}
	return "", err
}
