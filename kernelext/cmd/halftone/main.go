// Command halftone installs, serves, checks and runs Halftone: a Jupyter kernel for Go with automatic mixed precision.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
)

// Set by the installer when it builds this command.
var (
	commit string
	source string
)

// A command is one word after `halftone`.
type command struct {
	name, args, about string
	hidden            bool
	run               func(ctx context.Context, args []string) error
}

var commands []command

func init() {
	commands = []command{
		{name: "lab", args: "[-- JUPYTER OPTIONS]", about: "install what is missing and open JupyterLab on the tutorials", run: lab},
		{name: "install", about: "install or update everything, without starting JupyterLab", run: installAll},
		{name: "doctor", args: "[--json]", about: "look at every part of the installation and say how to repair it", run: doctor},
		{name: "run", args: "NOTEBOOK…", about: "execute notebooks without a browser", run: runNotebooks},
		{name: "show", args: "NOTEBOOK…", about: "print the figures that notebooks have saved, in the terminal", run: showFigures},
		{name: "share", args: "NOTEBOOK", about: "pack a notebook with what reproduces it", run: shareNotebook},
		{name: "verify", args: "[FOLDER | NOTEBOOK]…", about: "execute notebooks again and say what differs", run: verifyNotebooks},
		{name: "compare", args: "NOTEBOOK…", about: "set the runs of executed notebooks beside each other", run: compareRuns},
		{name: "train", args: "resnet18 | gpt", about: "train a real model in float32 and under autocast, and compare", run: trainModel},
		{name: "bench", about: "measure the latency of cells and the time of a training step", run: benchmark},
		{name: "uninstall", about: "remove everything that install made", run: uninstall},
		{name: "version", about: "print version, commit and Go version", run: printVersion},
		{name: "kernel", args: "CONNECTION_FILE", about: "what Jupyter starts", hidden: true, run: kernelCommand},
		{name: "render", about: "draw the figure whose JSON comes on standard input", hidden: true, run: drawFigure},
		{name: "help", args: "[COMMAND]", about: "explain a command", run: help},
	}
}

// errHelp ends a command that was asked for its help, which has been printed.
var errHelp = errors.New("help")

// errUsage is what errors of a wrong call wrap: exit code 2.
var errUsage = errors.New("usage")

// A callError is a wrong call in words of its own.
type callError struct{ error }

func (e callError) Is(target error) bool { return target == errUsage }

// wrongCall returns the error of a wrong call, which names what to call instead.
func wrongCall(format string, args ...any) error { return callError{fmt.Errorf(format, args...)} }

// errQuiet asks for exit code 1; what is wrong has been said.
var errQuiet = errors.New("failed")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), endings()...)
	letSecondKill(ctx, stop)
	os.Exit(dispatch(ctx, os.Args[1:]))
}

func dispatch(ctx context.Context, args []string) int {
	name := "help"
	if len(args) > 0 {
		name, args = args[0], args[1:]
	}
	switch name {
	case "-h", "-help", "--help":
		name = "help"
	case "-v", "-version", "--version":
		name = "version"
	}
	for _, c := range commands {
		if c.name != name {
			continue
		}
		err := c.run(ctx, args)
		if fault := stdout.fault(); fault != nil && (err == nil || errors.Is(err, errHelp)) {
			err = fault
		}
		return exitCode(ctx, name, err)
	}
	fmt.Fprintf(os.Stderr, "halftone: there is no command %q; `halftone help` lists them\n", name)
	return 2
}

// exitCode says what went wrong with a command, unless that has been done, and returns the code to end with.
func exitCode(ctx context.Context, name string, err error) int {
	code := 1
	switch {
	case err == nil, errors.Is(err, errHelp):
		return 0
	case errors.Is(err, errQuiet):
		return 1
	case errors.Is(err, errUsage):
		code = 2
	case ctx.Err() != nil:
		fmt.Fprintln(os.Stderr, "halftone: interrupted")
		return 130
	}
	fmt.Fprintf(os.Stderr, "halftone %s: %s\n", name, strings.TrimPrefix(err.Error(), "halftone: "))
	return code
}

func help(ctx context.Context, args []string) error {
	fs := flags("help", "[COMMAND]", "Lists the commands, or explains one.")
	if err := parse(fs, args); err != nil {
		return err
	}
	if fs.NArg() > 1 {
		return wrongCall("name one command, not %d, as in `halftone help run`", fs.NArg())
	}
	if fs.NArg() == 1 {
		for _, c := range commands {
			if c.name == fs.Arg(0) {
				return c.run(ctx, []string{"-h"})
			}
		}
		return wrongCall("there is no command %q; `halftone help` lists them", fs.Arg(0))
	}
	fmt.Fprintln(stdout, "halftone: mixed precision you can see, in Go notebooks")
	fmt.Fprintln(stdout)
	for _, c := range commands {
		if !c.hidden {
			fmt.Fprintf(stdout, "  halftone %-30s %s\n", c.name+" "+c.args, c.about)
		}
	}
	fmt.Fprintln(stdout, "\n`halftone help COMMAND` lists a command's options. HALFTONE_HOME moves the folder that everything is installed into.")
	return nil
}

// version is "devel" with the commit as far as the build knows it.
func version() string {
	v := "devel"
	if info, ok := debug.ReadBuildInfo(); ok {
		if info.Main.Version != "" && info.Main.Version != "(devel)" {
			v = info.Main.Version
		}
	}
	if commit != "" {
		v = "devel " + commit
	}
	return v
}

func printVersion(_ context.Context, args []string) error {
	if err := parseBare(flags("version", "", "Prints version, commit and Go version."), args); err != nil {
		return err
	}
	info, _ := debug.ReadBuildInfo()
	fmt.Fprintf(stdout, "halftone %s (sources %s, %s)\n", version(), orUnknown(source), info.GoVersion)
	return nil
}

func orUnknown(s string) string {
	if s == "" {
		return "not recorded"
	}
	return s
}
