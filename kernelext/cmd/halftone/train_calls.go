package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/cudart/libraries"
	"github.com/halftone-ml/halftone/kernelext/train"
)

// noZeros refuses options set to 0: left away they mean the model's default, and 0 would be taken for that.
func noZeros(fs *flag.FlagSet) (err error) {
	fs.Visit(func(f *flag.Flag) {
		switch f.Name {
		case "steps", "batch", "width", "lr":
			if f.Value.String() == "0" {
				err = wrongCall("--%s 0: give a number above 0, or leave it away for the model's default", f.Name)
			}
		}
	})
	return err
}

// goOn is the command that goes on from the checkpoint of an interrupted run.
func goOn(fs *flag.FlagSet, c train.Config) string {
	words := []string{"halftone train", c.Model}
	fs.Visit(func(f *flag.Flag) {
		switch {
		case f.Name == "resume", f.Name == "save":
		case f.Value.String() == "true":
			words = append(words, "--"+f.Name)
		default:
			words = append(words, "--"+f.Name, shellWord(f.Value.String()))
		}
	})
	return strings.Join(append(words, "--resume", shellWord(c.Save), "--save", shellWord(c.Save)), " ")
}

// shellWord quotes what a shell would take apart.
func shellWord(s string) string {
	special := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("-_./,:=+@%", r)
	}
	if s != "" && strings.IndexFunc(s, special) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// deviceError words, for the command line, that a device can't be opened.
func deviceError(err error, device string) error {
	var misuse *amp.Error
	if errors.Is(err, amp.ErrDevice) && os.Getenv(libraries.ModeEnv) == libraries.ModeEmulator && !withEmulator {
		return fmt.Errorf("--device %s: %s=%s is set, and this command was built without the emulator; in a checkout, `go run -tags halftone_emulator ./kernelext/cmd/halftone train …` has it; or train with --device cpu",
			device, libraries.ModeEnv, libraries.ModeEmulator)
	}
	if errors.As(err, &misuse) && misuse.Op == "NewScope" && errors.Is(err, amp.ErrDevice) {
		return fmt.Errorf("--device %s: %s; or train with --device cpu, or auto for a GPU if there is one", device, misuse.Detail)
	}
	return err
}
