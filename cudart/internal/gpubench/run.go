package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// A suite is what one package's tests came to.
type suite struct {
	name                    string
	passed, failed, skipped int
	took                    time.Duration
	err                     error
	log                     string
}

// runAll runs every test binary beside this program, then the benchmarks and their peer in turn, and writes results.md and all logs
// into dir.
func runAll(dir, python, sanitizer string, rounds int) error {
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	home := filepath.Dir(exe)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	out, err := os.Create(filepath.Join(dir, "results.md"))
	if err != nil {
		return err
	}
	defer out.Close()
	commit, _ := os.ReadFile(filepath.Join(home, "commit"))
	gpu, err := exec.Command("nvidia-smi", "--query-gpu=name,driver_version,memory.total", "--format=csv,noheader").CombinedOutput()
	if err != nil {
		gpu = fmt.Appendf(nil, "nvidia-smi: %v", err)
	}
	fmt.Fprintf(out, "%s, commit %s, %s\n\n", time.Now().UTC().Format("2006-01-02 15:04 MST"), commit, strings.TrimSpace(string(gpu)))

	bad := 0
	fmt.Fprintln(out, "| tests | passed | failed | skipped | s |\n|---|---|---|---|---|")
	var binaries []string
	err = filepath.WalkDir(filepath.Join(home, "tests"), func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.Name() == "suite.test" {
			binaries = append(binaries, path)
		}
		return err
	})
	if err != nil {
		return err
	}
	for _, b := range binaries {
		s := runSuite(home, dir, b)
		fmt.Fprintf(out, "| %s | %d | %d | %d | %.1f |\n", s.name, s.passed, s.failed, s.skipped, s.took.Seconds())
		fmt.Printf("%s: %d passed, %d failed, %d skipped in %.1f s\n", s.name, s.passed, s.failed, s.skipped, s.took.Seconds())
		if s.failed > 0 || s.err != nil {
			bad++
			fmt.Printf("  %v, see %s\n%s", s.err, s.log, failures(s.log))
		}
	}
	if sanitizer != "" {
		fmt.Fprintf(out, "\n%s\n", sanitize(home, dir, sanitizer))
	}
	files, err := runBenchmarks(exe, home, dir, python, rounds)
	fmt.Fprintln(out)
	if e := table(out, files); err == nil {
		err = e
	}
	if err == nil && bad > 0 {
		err = fmt.Errorf("the tests of %d packages failed", bad)
	}
	fmt.Println("results are in", out.Name())
	return err
}

var verdict = regexp.MustCompile(`(?m)^ *--- (PASS|FAIL|SKIP): `)

// runSuite runs a test binary in its own folder, as go test would.
func runSuite(home, dir, binary string) suite {
	name, err := filepath.Rel(filepath.Join(home, "tests"), filepath.Dir(binary))
	if err != nil {
		return suite{name: binary, err: err}
	}
	s := suite{name: filepath.ToSlash(name), log: filepath.Join(dir, strings.ReplaceAll(filepath.ToSlash(name), "/", "-")+".log")}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, "-test.v", "-test.timeout=290s")
	cmd.Dir = filepath.Dir(binary)
	switch s.name { // the rest of these needs no GPU
	case "amp":
		cmd.Args = append(cmd.Args, "-test.run=OnDevice$")
		cmd.Env = append(os.Environ(), "HALFTONE_COMPARE_DEVICE=cuda:0")
	case "kernelext/session":
		cmd.Args = append(cmd.Args, "-test.run=OnTheGPU$|CapturedInASession$")
	}
	began := time.Now()
	log, err := cmd.CombinedOutput()
	s.took, s.err = time.Since(began), err
	for _, m := range verdict.FindAllSubmatch(log, -1) {
		switch string(m[1]) {
		case "PASS":
			s.passed++
		case "FAIL":
			s.failed++
		default:
			s.skipped++
		}
	}
	if e := os.WriteFile(s.log, log, 0o644); s.err == nil {
		s.err = e
	}
	return s
}

// failures returns the lines of a log that say what failed, the first forty.
func failures(log string) string {
	b, err := os.ReadFile(log)
	if err != nil {
		return err.Error() + "\n"
	}
	lines := slices.DeleteFunc(strings.SplitAfter(string(b), "\n"), func(l string) bool {
		l = strings.TrimSpace(l)
		return l == "" || strings.HasPrefix(l, "=== ") || strings.HasPrefix(l, "--- PASS") || strings.HasPrefix(l, "--- SKIP")
	})
	return strings.Join(lines[:min(len(lines), 40)], "")
}

// runBenchmarks runs ours and the peer's in turn, so that what changes with time meets both.
func runBenchmarks(exe, home, dir, python string, rounds int) (files []string, err error) {
	ours := [][]string{{exe, "-bench"}, {exe, "-steps"}}
	peer := [][]string{{python, filepath.Join(home, "peer.py")}, {python, filepath.Join(home, "steps.py")}}
	for i := range rounds {
		for _, who := range []struct {
			name     string
			commands [][]string
		}{{"ours", ours}, {"peer", peer}} {
			file := filepath.Join(dir, fmt.Sprintf("%s%d.json", who.name, i+1))
			f, e := os.Create(file)
			if e != nil {
				return files, e
			}
			for _, args := range who.commands {
				cmd := exec.Command(args[0], args[1:]...)
				cmd.Stdout, cmd.Stderr = f, os.Stderr
				if e := cmd.Run(); e != nil && err == nil {
					err = fmt.Errorf("%s: %w", strings.Join(args, " "), e)
				}
			}
			f.Close()
			files = append(files, file)
		}
	}
	return files, err
}

// sanitize runs the driver's suite, and all kernels' tests, under NVIDIA's checker of memory accesses. It returns a sentence.
func sanitize(home, dir, sanitizer string) string {
	path, err := exec.LookPath(sanitizer)
	if err != nil {
		return "compute-sanitizer: not run, it was not found."
	}
	var said []string
	for pkg, tests := range map[string]string{"cudart/driver": "OnDevice", "cudart": "."} {
		ctx, cancel := context.WithTimeout(context.Background(), 4*time.Minute)
		log := filepath.Join(dir, "memcheck-"+strings.ReplaceAll(pkg, "/", "-")+".log")
		// What the suites provoke on purpose, calls with wrong arguments, is not an error of theirs.
		cmd := exec.CommandContext(ctx, path, "--tool", "memcheck", "--report-api-errors", "no", "--target-processes", "application-only", "--error-exitcode", "99",
			"--log-file", log, "./suite.test", "-test.run", tests, "-test.short")
		cmd.Dir = filepath.Join(home, "tests", filepath.FromSlash(pkg))
		began := time.Now()
		err := cmd.Run()
		cancel()
		word := "no error"
		if err != nil {
			word = err.Error() + ", see " + filepath.Base(log)
		}
		said = append(said, fmt.Sprintf("%s %s in %.0f s", pkg, word, time.Since(began).Seconds()))
	}
	slices.Sort(said)
	return "compute-sanitizer memcheck: " + strings.Join(said, "; ") + "."
}
