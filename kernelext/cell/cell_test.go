package cell

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/optim"
	"github.com/halftone-ml/halftone/internal/testsignal"
)

// Bodies run in a process of their own: this test binary again. Outside a notebook figures are printed as text.
const (
	childEnv = "CELL_TEST_BODY"
	showEnv  = "CELL_TEST_SHOW"  // with every second step looked at
	everyEnv = "CELL_TEST_EVERY" // or every so manieth one
	fp8Env   = "CELL_TEST_FP8"
	fp4Env   = "CELL_TEST_FP4"
)

func TestMain(m *testing.M) {
	if name := os.Getenv(childEnv); name != "" {
		if name == "ignoring" { // as a program that a script runs in the background
			signal.Ignore(syscall.SIGINT)
			os.Setenv(childEnv, "sleeps")
			if err := syscall.Exec(os.Args[0], os.Args[:1], os.Environ()); err != nil {
				panic(err)
			}
		}
		o := Options{DType: "float16", Trace: "decisions", FP8: os.Getenv(fp8Env), FP4: os.Getenv(fp4Env)}
		if show := os.Getenv(showEnv); show != "" {
			o.Show, o.Every = strings.Split(show, ","), 2
			if n, err := strconv.Atoi(os.Getenv(everyEnv)); err == nil {
				o.Every = n
			}
		}
		Run(o, bodies[name])
		println("after Run")
		os.Exit(0)
	}
	testsignal.Restore()
	os.Exit(m.Run())
}

var bodies = map[string]func(s, half *amp.Scope){
	"returns": func(s, half *amp.Scope) {
		for step := range s.Steps(3) {
			amp.Exp(step.Autocast(amp.NoDType), amp.Ones(step, amp.Float32, 2))
		}
		x := amp.Ones(s, amp.Float32, 2, 2)
		println("matmul gives", amp.MatMul(half, x, x).DType().String())
	},
	"eight": func(s, half *amp.Scope) {
		x := amp.Ones(s, amp.Float32, 32, 32).RequireGrad()
		for step := range s.Steps(1) {
			half := step.Autocast(amp.NoDType)
			amp.Sum(half, amp.Linear(half, x, x, nil)).Backward()
		}
	},
	"outside": func(s, half *amp.Scope) {
		amp.Exp(s, amp.Ones(s, amp.Float32, 2))
	},
	"panics": func(s, half *amp.Scope) {
		amp.Exp(half, amp.Ones(s, amp.Float32, 2))
		panic("too hot")
	},
	"fails": func(s, half *amp.Scope) {
		panic("no data")
	},
	"steps": func(s, half *amp.Scope) {
		for step := range s.Steps(1 << 30) {
			amp.Exp(step.Autocast(amp.NoDType), amp.Ones(step, amp.Float32, 2))
			if step.Step() == 2 {
				println("ready")
			}
		}
		println("after the loop")
	},
	"learns": func(s, half *amp.Scope) {
		w := amp.Ones(s, amp.Float32, 2, 1).RequireGrad().SetName("w")
		for step := range s.Steps(4) {
			half := step.Autocast(amp.NoDType)
			loss := amp.MulScalar(half, amp.MatMul(half, amp.Ones(half, amp.Float32, 1, 2), w), 0x1p-30)
			for range 2 + 3*step.Step() {
				amp.Sum(half, loss).Backward(amp.RetainGraph())
			}
		}
	},
	"collapses": func(s, half *amp.Scope) {
		w := amp.Ones(s, amp.Float32, 2, 1).RequireGrad().SetName("w")
		opt, scaler := optim.NewSGD([]*amp.Tensor{w}, optim.LR(0)), amp.NewGradScaler(amp.InitScale(1))
		for step := range s.Steps(4) {
			half, factor := step.Autocast(amp.NoDType), 1.0
			if step.Step() >= 2 {
				factor = math.Inf(1)
			}
			loss := amp.MulScalar(step, amp.Sum(step, amp.MatMul(half, amp.Ones(half, amp.Float32, 1, 2), w)), factor)
			opt.ZeroGrad()
			scaler.Scale(step, loss).Backward()
			scaler.Step(opt)
			scaler.Update()
		}
	},
	"sleeps": func(s, half *amp.Scope) {
		println("ready")
		time.Sleep(time.Minute)
	},
}

// ran runs a body and interrupts it n times once it is ready.
func ran(t *testing.T, name string, n int, env ...string) (stdout, stderr string, err error) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(append(os.Environ(), childEnv+"="+name), env...)
	var out, errs lockedBuffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err = cmd.Start(); err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(3*time.Minute, func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	for range n {
		for deadline := time.Now().Add(2 * time.Minute); !strings.Contains(errs.String(), "ready") && time.Now().Before(deadline); {
			time.Sleep(5 * time.Millisecond)
		}
		_ = cmd.Process.Signal(syscall.SIGINT)
	}
	err = cmd.Wait()
	return out.String(), errs.String(), err
}

// TestRun checks how each kind of body ends, and that its figures come in any case, but for those that would be empty.
func TestRun(t *testing.T) {
	for _, c := range []struct {
		name       string
		interrupts int
		says, end  string
	}{
		{"fails", 0, "panic: no data", "exit status 2"},
		{"returns", 0, "matmul gives float16\nafter Run\n", ""},
		{"outside", 0, "%%amp float16: no op ran under autocast; pass half where it should, and in s.Steps step.Autocast(amp.NoDType)\nafter Run\n", ""},
		{"panics", 0, "panic: too hot", "exit status 2"},
		{"steps", 1, "after the loop\nafter Run\n", ""},
		{"sleeps", 1, "ready\n", "signal: interrupt"},
		{"ignoring", 1, "ready\n", "exit status 130"},
	} {
		begin := time.Now()
		stdout, stderr, err := ran(t, c.name, c.interrupts)
		want := 1
		if c.name == "fails" || c.end != "" && c.name != "panics" { // they ran no op
			want = 0
		}
		if strings.Count(stdout, "Precision decisions · ") != want || strings.Count(stdout, "Precision decisions") != want {
			t.Errorf("%s: shows\n%s", c.name, stdout)
		}
		if end := errorText(err); !strings.Contains(stderr, c.says) || end != c.end {
			t.Errorf("%s: ended with %q after %v, said\n%s", c.name, end, time.Since(begin), stderr)
		}
		if c.name != "outside" && strings.Contains(stderr, "no op ran under autocast") {
			t.Errorf("%s: %s", c.name, stderr)
		}
		if c.end != "" && strings.Contains(stderr, "after Run") {
			t.Errorf("%s went on: %s", c.name, stderr)
		}
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// TestFP8: the layers of a cell read 8 bits, those of a step's own autocast too.
func TestFP8(t *testing.T) {
	for _, granularity := range []string{"", "row"} {
		stdout, stderr, err := ran(t, "eight", 0, fp8Env+"="+granularity)
		if err != nil || strings.Contains(stdout, "fp16 → e4m3") != (granularity != "") {
			t.Errorf("%q: %v, shows\n%s\nsays %s", granularity, err, stdout, stderr)
		}
	}
}

// TestFP4: and so with 4 bits.
func TestFP4(t *testing.T) {
	for _, format := range []string{"", "nv", "mx"} {
		stdout, stderr, err := ran(t, "eight", 0, fp4Env+"="+format)
		if err != nil || strings.Contains(stdout, "fp16 → e2m1") != (format != "") {
			t.Errorf("%q: %v, shows\n%s\nsays %s", format, err, stdout, stderr)
		}
	}
}

// TestFlow checks the figures of gradients: those of the newest step that was looked at, of a few passes, and what is said where there are
// none.
func TestFlow(t *testing.T) {
	stdout, stderr, err := ran(t, "learns", 0, showEnv+"=flow")
	if err != nil || strings.Count(stdout, "Where did my gradients go?") != maxPasses || strings.Count(stdout, "are zero in step 2") != maxPasses || !strings.Contains(stdout, "cell_test.go:") {
		t.Errorf("%v: shows\n%s", err, stdout)
	}
	if !strings.Contains(stderr, "--show flow: step 2 has 8 backward passes; the first 3 are shown\n") {
		t.Errorf("says %s", stderr)
	}
	stdout, stderr, err = ran(t, "returns", 0, showEnv+"=flow,decisions")
	if err != nil || strings.Contains(stdout, "gradients go") || !strings.Contains(stdout, "Precision decisions") || !strings.Contains(stderr, "--show flow: no Backward") {
		t.Errorf("%v: shows\n%s\nsays %s", err, stdout, stderr)
	}
}

// TestFlowOfOneStep: the figure says that it is about one step of many, and that later ones overflowed.
func TestFlowOfOneStep(t *testing.T) {
	stdout, stderr, err := ran(t, "collapses", 0, showEnv+"=flow", everyEnv+"=0")
	flat := strings.Join(strings.Fields(stdout), " ")
	for _, want := range []string{"in step 0", "But of the 3 steps after it 2 were skipped, since gradients were not finite, first step 2: look at that one.", "Of the 4 steps of the run the figure is about step 0 alone."} {
		if err != nil || !strings.Contains(flat, want) {
			t.Errorf("%v: without %q:\n%s\n%s", err, want, stdout, stderr)
		}
	}
}

// TestRoundings checks the figures of what rounding did to the losses of a step, and what is said where there are none.
func TestRoundings(t *testing.T) {
	stdout, stderr, err := ran(t, "learns", 0, showEnv+"=rounding")
	if err != nil || strings.Count(stdout, "Where does rounding enter the loss?") != maxPasses || !strings.Contains(stdout, "cell_test.go:") {
		t.Errorf("%v: shows\n%s", err, stdout)
	}
	if !strings.Contains(stderr, "--show rounding: step 2 has 8 backward passes; the first 3 are shown\n") {
		t.Errorf("says %s", stderr)
	}
	_, stderr, err = ran(t, "returns", 0, showEnv+"=rounding")
	if err != nil || !strings.Contains(stderr, "--show rounding: no Backward") {
		t.Errorf("%v: says %s", err, stderr)
	}
}

// TestUsage checks what a program leaves for %amp status.
func TestUsage(t *testing.T) {
	file := filepath.Join(t.TempDir(), "usage.json")
	if _, stderr, err := ran(t, "returns", 0, UsageEnv+"="+file); err != nil {
		t.Fatal(err, stderr)
	}
	var u struct {
		Seconds float64
		Peak    map[string]int64
		Steps   int
	}
	b, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(b, &u)
	}
	if err != nil || u.Steps != 3 || u.Peak["cpu"] < 16 || u.Seconds <= 0 {
		t.Errorf("%v, %s", err, b)
	}
}

// TestRunRefuses checks the errors of Run itself.
func TestRunRefuses(t *testing.T) {
	for _, o := range []Options{{DType: "float17"}, {}, {DType: "off", Trace: "loud"}, {DType: "int64"}, {DType: "float16", FP8: "column"}, {DType: "off", FP8: "row"}, {DType: "float16", FP8: "block16"},
		{DType: "float16", FP4: "int"}, {DType: "off", FP4: "nv"}, {DType: "float16", FP4: "mx", FP8: "row"}} {
		err := amp.Maybe(func() { Run(o, func(s, half *amp.Scope) { t.Errorf("%+v: the body ran", o) }) })
		if !errors.Is(err, amp.ErrArgument) && !errors.Is(err, amp.ErrDType) {
			t.Errorf("%+v: %v", o, err)
		}
	}
}
