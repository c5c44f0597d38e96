package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// runOptions are the flags of a run.
type runOptions struct {
	dir, python, sanitizer, again string
	rounds                        int
	within                        time.Duration // 0: as long as it takes
}

// runAll runs the stages that the folder's state does not have yet, as far as the time goes.
func runAll(o runOptions) error {
	began := time.Now()
	runtime.LockOSThread() // a child ends with the thread that started it
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	p := &plan{python: o.python, sanitizer: o.sanitizer, rounds: o.rounds}
	var err error
	if p.exe, err = os.Executable(); err != nil {
		return err
	}
	p.home = filepath.Dir(p.exe)
	if o.dir, err = filepath.Abs(o.dir); err != nil {
		return err
	}
	st, err := load(o.dir)
	if err != nil {
		return err
	}
	if err := st.identify(ctx, p); err != nil {
		return err
	}
	st.Calls = append(st.Calls, filepath.Base(p.home)+"/"+filepath.Base(p.exe)+" "+commandLine(os.Args[1:], o.dir))
	st.planned = p.stages()
	st.reopen(o.again)
	if !st.Device.Emulated && nothingCompiled() {
		st.forget(func(e *entry) bool { return e.Stage == compileStage && e.Status == done })
	}
	left := func() time.Duration {
		if o.within == 0 {
			return 24 * time.Hour
		}
		return o.within - time.Since(began)
	}
	if err := st.runStages(ctx, st.planned, left); err != nil {
		return err
	}
	fmt.Println("results are in", st.path("results.md"))
	bad := st.bad()
	if len(bad) > 0 {
		err = fmt.Errorf("not well: %s; %s says why; -again NAME runs those once more that have it in their name", strings.Join(bad, "; "), st.path("log.txt"))
	}
	if n, usual := st.open(st.planned); n > 0 {
		fmt.Printf("%d of %d stages are left, of about %v: run it again, with the same -o\n", n, len(st.planned), usual.Round(time.Minute))
	} else {
		fmt.Printf("no stage is left: take the folder %s home\n", st.dir)
	}
	return errors.Join(err, ctx.Err())
}

// commandLine is the arguments as one would type them beside the results' folder: where that lay is nobody's concern.
func commandLine(args []string, dir string) string {
	words := slices.Clone(args)
	for i, w := range words {
		if abs, err := filepath.Abs(w); err == nil && abs == dir {
			words[i] = filepath.Base(dir)
		}
		if words[i] == "" {
			words[i] = `""`
		}
	}
	return strings.Join(words, " ")
}

// runStages runs what is left of the list while there is time.
func (st *state) runStages(ctx context.Context, list []stage, left func() time.Duration) error {
	log, err := os.OpenFile(st.path("log.txt"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	for ran := 0; ; ran++ {
		if err := st.save(); err != nil || ctx.Err() != nil {
			return err
		}
		group := st.group(list, func(s stage) bool { return ran == 0 || s.lacks != "" || s.usual <= left() })
		if len(group) == 0 {
			return nil
		}
		entries := make([]*entry, len(group))
		for i, s := range group {
			entries[i] = st.begin(s)
		}
		if err := st.save(); err != nil {
			return err
		}
		if err := st.runGroup(ctx, group, entries, left(), log); err != nil {
			return err
		}
	}
}

// runGroup runs stages side by side. Each writes a log of its own, which joins the others' when it has ended: what it says is in one piece.
func (st *state) runGroup(ctx context.Context, group []stage, entries []*entry, left time.Duration, log *os.File) error {
	errs := make([]error, len(group))
	var all sync.WaitGroup
	judged, err := st.referee(group, entries)
	if err != nil {
		return err
	}
	var joining sync.Mutex
	for i, s := range group {
		all.Go(func() {
			runtime.LockOSThread() // a child ends with the thread that started it
			defer runtime.UnlockOSThread()
			defer s.seat.close()
			own, err := os.CreateTemp(st.dir, "stage-*.txt")
			if err != nil {
				errs[i] = err
				return
			}
			defer os.Remove(own.Name())
			defer own.Close()
			st.run(ctx, s, entries[i], left, own)
			said, err := os.ReadFile(own.Name())
			joining.Lock()
			defer joining.Unlock()
			_, e := log.Write(said)
			errs[i] = errors.Join(err, e)
			fmt.Println(entries[i])
		})
	}
	all.Wait()
	if lost := judged(); lost != nil { // the figures themselves are there
		fmt.Println(lost)
		_, _ = fmt.Fprintln(log, lost)
	}
	return errors.Join(errs...)
}

// run runs one stage; log is its own.
func (st *state) run(ctx context.Context, s stage, e *entry, left time.Duration, log *os.File) {
	if s.lacks != "" {
		e.Status, e.Attempts, e.Why = missing, e.Attempts-1, []string{s.lacks}
		return
	}
	fmt.Fprintf(log, "\n=== stage %q, attempt %d, %s: %s %s\n", s.name, e.Attempts, time.Now().UTC().Format(time.RFC3339), strings.Join(s.env, " "), strings.Join(s.argv, " "))
	at, _ := log.Seek(0, io.SeekEnd)
	limit := min(s.limit, max(left, 10*time.Second))
	timed, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	began := time.Now()
	err, sentOff := st.runPrograms(timed, s, e, log)
	e.Seconds = time.Since(began).Seconds()
	switch {
	case ctx.Err() != nil, timed.Err() != nil && limit < s.limit:
		e.Status = cut
	case timed.Err() != nil:
		e.Status, e.Why = tooLong, append(e.Why, fmt.Sprintf("ended after %v", limit))
	case sentOff != nil:
		e.Status, e.Why = tooLong, append(e.Why, sentOff.Error())
	case err != nil:
		e.Status, e.Why = failed, append(e.Why, err.Error())
	default:
		e.Status = done
	}
	if said, err := os.ReadFile(log.Name()); err == nil && int64(len(said)) >= at {
		e.read(said[at:])
	}
}

// runPrograms runs a stage's program, and where it ends before its time what goes on behind that. It returns the first error, and why the
// first was sent off that was.
func (st *state) runPrograms(ctx context.Context, s stage, e *entry, log *os.File) (err, sentOff error) {
	var skip []string
	for n := 0; ; n++ {
		from, _ := log.Seek(0, io.SeekEnd)
		end, said := st.runProgram(ctx, s, e, skip, log)
		if err == nil {
			err = said
		}
		if sentOff == nil {
			sentOff = s.seat.who().Why()
		}
		if s.seat.goesOn(ctx, end) {
			e.Why = append(e.Why, fmt.Sprintf("%v: another program went on behind it", said))
			fmt.Fprintf(log, "\n=== stage %q goes on behind what ended it\n", s.name)
			continue
		}
		text, _ := os.ReadFile(log.Name())
		c, ended := crashed(text[min(from, int64(len(text))):])
		if s.side != tests || ctx.Err() != nil || !ended {
			return err, sentOff
		}
		if c.running != "" {
			e.Failed++
			e.Why = append(e.Why, c.running+" ended the tests")
		}
		if skip = append(skip, c.skip...); n == mostCrashes || len(strings.Join(skip, "|")) > mostSkipped {
			e.Why = append(e.Why, "the tests behind it did not run")
			return err, sentOff
		}
		fmt.Fprintf(log, "\n=== stage %q goes on behind what ended it\n", s.name)
	}
}

// runProgram runs a program once, without tests that are to be skipped. One that is sent off by the referee is killed.
func (st *state) runProgram(ctx context.Context, s stage, e *entry, skip []string, log *os.File) (*os.ProcessState, error) {
	argv := s.argv
	if len(skip) > 0 {
		argv = append(slices.Clone(argv), "-test.skip="+strings.Join(skip, "|"))
	}
	one, end := context.WithCancel(ctx)
	defer end()
	sent := s.seat.who().SentOff()
	go func() {
		select {
		case <-sent:
			end()
		case <-one.Done():
		}
	}()
	cmd := exec.CommandContext(one, argv[0], argv[1:]...)
	cmd.Dir, cmd.Env, cmd.Stderr = s.dir, append(environment(), s.env...), log
	cmd.WaitDelay = 5 * time.Second
	together(cmd)
	s.seat.who().Join(cmd)
	said := st.follow(one, cmd, end, s, e.Number, log)
	if errors.Is(said, errUnending) { // it may yet
		return nil, said
	}
	return cmd.ProcessState, said
}

// environment is that of stages: they share the driver's cache of compiled kernels, which has room for all and is there without a home, too.
func environment() []string {
	env := os.Environ()
	for name, value := range map[string]string{"CUDA_CACHE_PATH": cacheDir(), "CUDA_CACHE_MAXSIZE": strconv.Itoa(4<<30 - 1)} {
		if os.Getenv(name) == "" {
			env = append(env, name+"="+value)
		}
	}
	return env
}

func cacheDir() string {
	return cmp.Or(os.Getenv("CUDA_CACHE_PATH"), filepath.Join(os.TempDir(), "halftone-gpubench"))
}

// nothingCompiled is whether the driver's cache is empty: on a machine that is new, though of the same kind, what was compiled on another one
// has to be compiled again, before it falls into the times of others.
func nothingCompiled() bool {
	list, err := os.ReadDir(cacheDir())
	return err != nil || len(list) == 0
}

// bad names the stages that failed, or were cut off for the last time; what is missing did not.
func (st *state) bad() (names []string) {
	for _, e := range st.Entries {
		if e.Status == failed || e.Status == tooLong || e.Status == cut && e.Attempts >= attempts || e.Failed > 0 {
			names = append(names, e.Stage)
		}
	}
	return names
}

// identify says what the run is of, and refuses to mix two machines or two commits.
func (st *state) identify(ctx context.Context, p *plan) error {
	probe, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	var is probed
	cmd := exec.CommandContext(probe, p.exe, "-probe")
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err == nil {
		err = json.Unmarshal(out, &is)
	}
	if err != nil {
		return fmt.Errorf("there is no GPU to run on: %w: %s; to rehearse without one, set HALFTONE_CUDA=emulator", err, strings.TrimSpace(errs.String()))
	}
	if p.onlyOne, err = onlyOne(is.Mode); err != nil {
		return err
	}
	d := is.Device
	st.Found = is.Found
	commit, err := os.ReadFile(filepath.Join(p.home, "commit"))
	if err != nil {
		commit = []byte("unknown")
	}
	if st.Began != "" && (st.Commit != string(commit) || st.Device != d) {
		return fmt.Errorf("%s has results of commit %s on %s, this is %s on %s; use another folder: -o", st.dir, st.Commit, st.Device.Name, commit, d.Name)
	}
	if st.Began == "" {
		st.Began, st.Commit, st.Device = time.Now().UTC().Format("2006-01-02 15:04 MST"), string(commit), d
	}
	said, err := exec.CommandContext(probe, p.python, "-c", "import torch; assert torch.cuda.is_available(), 'torch finds no GPU'; print('PyTorch', torch.__version__)").CombinedOutput()
	lines := strings.Split(strings.TrimSpace(string(said)), "\n")
	st.Peer = lines[len(lines)-1]
	if err != nil {
		var code *exec.ExitError
		if !errors.As(err, &code) || st.Peer == "" {
			st.Peer = err.Error()
		}
		p.noPeer = st.Peer
		st.Peer = "no PyTorch (" + st.Peer + ")"
	}
	fmt.Printf("%s, driver %s, capability %s, %s; commit %s\n", d.Name, d.Driver, d.Capability, st.Peer, commit)
	if st.OnlyOne = p.onlyOne; st.OnlyOne != "" {
		fmt.Println(st.OnlyOne)
	}
	return nil
}
