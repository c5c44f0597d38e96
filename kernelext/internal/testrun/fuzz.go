package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// fuzzTime is how long each fuzz target looks for inputs that break it.
const fuzzTime = 6 * time.Second

var fuzzTarget = regexp.MustCompile(`(?m)^func (Fuzz\w*)\(`)

// fuzz runs every fuzz target of the module root, one after another, since each uses all processors.
func (r *runner) fuzz(ctx context.Context) {
	_ = filepath.WalkDir(r.root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		if d.IsDir() {
			if path != r.root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules" || d.Name() == "testdata") {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		source, err := os.ReadFile(path)
		if err != nil {
			return nil
		}
		for _, m := range fuzzTarget.FindAllSubmatch(source, -1) {
			name, dir := string(m[1]), filepath.Dir(path)
			rel, _ := filepath.Rel(r.root, dir)
			r.check(ctx, fmt.Sprintf("fuzz %s %s", rel, name), func(ctx context.Context) (string, error) {
				// Minimizing is for whoever looks at a failure; here it would take the time away from searching.
				out, err := r.command(ctx, dir, "env", fewCollections, "go", "test", "-vet=off", "-run=^$", "-fuzz=^"+name+"$", "-fuzztime="+fuzzTime.String(), "-fuzzminimizetime=1x", ".").CombinedOutput()
				if err != nil && timeIsUp(string(out)) {
					err = nil
				}
				return string(out), err
			})
		}
		return nil
	})
}

// deadline is all that a target says of a failure when its time ends while a worker is between two inputs: go test takes the end of
// -fuzztime for an error then (go.dev/issue/75804, mended in Go 1.27). A failure of the target has a message of its own and an input that was written.
var deadline = regexp.MustCompile(`(?m)^--- FAIL: Fuzz\w+ \([\d.]+s\)\n +context deadline exceeded\nFAIL\n`)

// timeIsUp says whether a fuzz run that exited with an error found nothing.
func timeIsUp(out string) bool {
	return deadline.MatchString(out) && strings.Count(out, "--- FAIL") == 1 && !strings.Contains(out, "Failing input") && !strings.Contains(out, "panic")
}
