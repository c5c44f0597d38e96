package wire

import (
	"fmt"
	"runtime"
	"strings"
)

// faulty are variables of the user's Go that keep it from building, and what the go command says where one does.
var faulty = []struct{ name, says string }{
	{"GOFLAGS", "GOFLAGS"}, {"GOTOOLCHAIN", "GOTOOLCHAIN"}, {"GOTOOLCHAIN", "toolchain"}, {"GOROOT", "GOROOT"}, {"GOROOT", "is not in std"}, {"GOPROXY", "GOPROXY"},
	{"GOEXPERIMENT", "GOEXPERIMENT"},
}

// Fault names the variable that what the go command has said is about, and what to do; "" where none of those that are set is.
func Fault(said string, getenv func(string) string) string {
	for _, f := range faulty {
		if value := getenv(f.name); value != "" && strings.Contains(said, f.says) {
			return fmt.Sprintf("the environment variable %s is %q: unset it, or correct it, and start the kernel again from there", f.name, value)
		}
	}
	return ""
}

// OtherSystem says that cells are built for another system than this one, "" where they are not.
func OtherSystem(getenv func(string) string) string {
	for name, here := range map[string]string{"GOOS": runtime.GOOS, "GOARCH": runtime.GOARCH} {
		if value := getenv(name); value != "" && value != here {
			return fmt.Sprintf("the environment variable %s is %q, so cells are built for another system than this one (%s/%s): unset it and start the kernel again",
				name, value, runtime.GOOS, runtime.GOARCH)
		}
	}
	return ""
}
