package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/halftone-ml/halftone/kernelext/install"
	"github.com/halftone-ml/halftone/kernelext/layout"
)

// flags returns a flag set whose errors are one sentence and whose help shows how the command is called.
func flags(name, args, about string) *flag.FlagSet {
	fs := flag.NewFlagSet("halftone "+name, flag.ContinueOnError)
	fs.SetOutput(io.Discard) // flag would print a wrong option and the whole help; parse says one sentence
	fs.Usage = func() {
		options := false
		fs.VisitAll(func(*flag.Flag) { options = true })
		usage := "usage: halftone " + name
		if options {
			usage += " [options]"
		}
		fmt.Fprintf(fs.Output(), "%s\n\n%s\n", strings.TrimSpace(usage+" "+args), about)
		if options {
			fmt.Fprint(fs.Output(), "\noptions:\n")
			fs.PrintDefaults()
		}
	}
	return fs
}

// parse parses the options; asking for help or a wrong option ends the command.
func parse(fs *flag.FlagSet, args []string) error {
	err := fs.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fs.SetOutput(stdout)
		fs.Usage()
		return errHelp
	case err != nil:
		return wrongCall("%w; `%s` lists the options", err, helpFor(fs))
	}
	return nil
}

// parseBare is parse for commands that take options only. A word too many is refused: it may have been meant to keep the command from
// all it would do.
func parseBare(fs *flag.FlagSet, args []string) error {
	if err := parse(fs, args); err != nil {
		return err
	}
	if fs.NArg() > 0 {
		return wrongCall("it takes no argument, not %q: leave it away, or see `%s`", fs.Arg(0), helpFor(fs))
	}
	return nil
}

// helpFor is the command that explains a command.
func helpFor(fs *flag.FlagSet) string {
	return "halftone help " + strings.TrimPrefix(fs.Name(), "halftone ")
}

// notNegative refuses a time limit below 0, which would end the first cell at once.
func notNegative(name string, d time.Duration) error {
	if d < 0 {
		return wrongCall("--%s %v: give a time above 0, such as 90s, or 0 for no limit", name, d)
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
