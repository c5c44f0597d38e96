package kernel

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/halftone-ml/halftone/internal/stretch"
	"github.com/halftone-ml/halftone/kernelext/magic"
)

// trainCell trains a small net for many steps of a few milliseconds under %%amp.
const trainCell = `%%amp float16 --trace health --every 20
net := nn.NewSequential(nn.NewLinear(s, 8, 16), nn.ReLU, nn.NewLinear(s, 16, 1))
opt := optim.NewSGD(net.Parameters(), optim.LR(0.01))
scaler := amp.NewGradScaler()
x, y := amp.Randn(s, amp.Float32, 0, 1, 32, 8), amp.Randn(s, amp.Float32, 0, 1, 32, 1)
for step := range s.Steps(STEPS) {
	half := step.Autocast(amp.NoDType)
	loss := nn.MSELoss(half, net.Forward(half, x), y)
	opt.ZeroGrad()
	scaler.Scale(step, loss).Backward()
	scaler.Step(opt)
	scaler.Update()
	if step.Step() == 30 {
		fmt.Println("at work")
		REST
	}
}
fmt.Println("after the loop")`

func train(steps int, rest string) string {
	return strings.NewReplacer("STEPS", fmt.Sprint(steps), "REST", rest).Replace(trainCell)
}

// figures returns the texts of a cell's displays by their first words.
func (r result) figures() string {
	var kinds []string
	for _, d := range r.displays {
		kinds = append(kinds, strings.Join(strings.Fields(d["text/plain"].(string))[:2], " "))
	}
	return strings.Join(kinds, ", ")
}

// TestMagicCellTrains runs a training loop under %%amp and looks at what it leaves: its figures, with the lines of the cell, and what
// %amp status says about it.
func TestMagicCellTrains(t *testing.T) {
	s := startKernel(t, home(t))
	r := s.run("%amp scale 256\n" + train(60, "")).ok(t)
	if r.stdout != "at work\nafter the loop\n" || r.figures() != "Loss scale:, Precision decisions, Loss scale, Gradient exponents" {
		t.Fatalf("%q, figures %s", r.stdout, r.figures())
	}
	if text := r.displays[1]["text/plain"].(string); !strings.Contains(text, "[1]:9") || !strings.Contains(text, "autocast float16") {
		t.Errorf("the decisions name no line 9:\n%s", text)
	}
	if text := r.displays[2]["text/plain"].(string); !strings.Contains(text, "set by %amp: first scale 256") {
		t.Errorf("the history does not say who set the scale:\n%s", text)
	}
	if r := s.run(magic.Example).ok(t); r.figures() != "Precision decisions, Loss scale" {
		t.Errorf("the example of the help shows %s", r.figures())
	}
	if text := s.run("%amp status").answer(t); !strings.Contains(text, "20 steps") || !strings.Contains(text, "in tensors on cpu at most") {
		t.Errorf("the last cell is not in\n%s", text)
	}
	flow := s.run(strings.Replace(train(3, ""), "--trace health --every 20", "--show flow --every 2", 1)).ok(t)
	if flow.figures() != "Where did" {
		t.Fatalf("figures %s, said %s", flow.figures(), flow.stderr)
	}
	if text := flow.displays[0]["text/plain"].(string); !strings.Contains(text, "in step 2") || !strings.Contains(text, "[4]:8") {
		t.Errorf("the gradients' flow names no step 2 or no line 8 of the cell:\n%s", text)
	}
	for code, want := range map[string]string{
		"%%amp bfloat16 --show none\nfor step := range s.Steps(1) {\nhalf := step.Autocast(amp.NoDType)\nx := amp.Ones(step, amp.Float32, 2, 2)\nfmt.Println(amp.MatMul(half, x, x).DType(), amp.MatMul(step, x, x).DType())\n}": "bfloat16 float32\n",
		"%%amp off --show none\nfor step := range s.Steps(1) {\nhalf := step.Autocast(amp.NoDType)\nx := amp.Ones(step, amp.Float32, 2, 2)\nfmt.Println(amp.MatMul(half, x, x).DType())\n}":                                      "float32\n",
		"%%amp bfloat16\nfmt.Println(half.AutocastDType())":                                               "bfloat16 true\n",
		"%%amp off --show none\nfmt.Println(half.AutocastDType())":                                        "float32 false\n",
		"func twice(x int) int { return 2 * x }\n%%amp off --trace off\nfmt.Println(twice(21))":           "42\n",
		"import \"math/bits\"\n\n%%amp off --trace off\nfor range 2 {\nfmt.Print(bits.Len(8))\n}\nreturn": "44",
	} {
		if r := s.run(code).ok(t); r.stdout != want {
			t.Errorf("%s: %q", code, r.stdout)
		}
	}
}

// TestMagicCellThatFails checks that rows keep their numbers in compile errors and panics, that a panic comes with the figures, and
// that code that does not parse is reported as the user wrote it.
func TestMagicCellThatFails(t *testing.T) {
	s := startKernel(t, home(t))
	for _, c := range []struct{ code, value, figures string }{
		{"%%amp float16\nx := 1\n\nvar y int = \"two\"", "cell 1, line 4: cannot use \"two\"", ""},
		{"%amp status\n\n%%amp float16\nfor {\n", "expected '}'", ""},
		{train(60, "panic(\"too hot\")"), "too hot", "Precision decisions, Loss scale, Gradient exponents"},
	} {
		r := s.run(c.code)
		if c.figures == "" && len(r.displays) > 0 {
			r.displays = r.displays[len(r.displays)-1:]
		}
		text := fmt.Sprint(r.reply["evalue"], r.stderr)
		if r.reply["status"] != "error" || !strings.Contains(text, c.value) {
			t.Errorf("%s: %v %s %v", c.code, r.reply, r.stderr, r.displays)
		}
		if c.figures != "" && !strings.HasPrefix(r.figures(), c.figures) {
			t.Errorf("figures %s", r.figures())
		}
		if text := fmt.Sprint(r.reply["traceback"]); c.figures != "" && !strings.Contains(text, "cell 3, line 15") {
			t.Errorf("the panic's place is not in\n%s", text)
		}
	}
}

// TestMagicCellInterrupted interrupts a loop of steps, which ends and lets the rest of the cell run, and a body that sleeps, which
// is cut off; both show their figures.
func TestMagicCellInterrupted(t *testing.T) {
	s := startKernel(t, home(t))
	for _, c := range []struct {
		rest, stdout, status string
		within               time.Duration
	}{
		{"", "at work\nafter the loop\n", "ok", 2 * time.Second},
		{"time.Sleep(time.Minute)", "at work\n", "error", 5 * time.Second},
	} {
		m := s.submit(train(10_000_000, c.rest))
		s.waitOutput(m, "at work")
		begin := time.Now()
		s.request(s.control, "interrupt_request", map[string]any{})
		r := s.result(m)
		if took := time.Since(begin); stretch.Over(took, c.within) {
			t.Errorf("%q: it took %v", c.rest, took)
		}
		if r.stdout != c.stdout || r.reply["status"] != c.status || r.figures() != "Precision decisions, Loss scale, Gradient exponents" {
			t.Errorf("%q: %v, %q, figures %s", c.rest, r.reply, r.stdout, r.figures())
		}
	}
	m := s.submit("%%amp float16\nfmt.Println(\"at work\")\ntime.Sleep(time.Minute)")
	s.waitOutput(m, "at work")
	begin := time.Now()
	s.request(s.control, "interrupt_request", map[string]any{})
	if r := s.result(m); r.reply["ename"] != "Interrupted" || r.figures() != "" || // no op had run, of which one would tell
		stretch.Over(time.Since(begin), 2*time.Second) {
		t.Errorf("after %v: %v, figures %s", time.Since(begin), r.reply, r.figures())
	}
}

// TestMagicCellIsAssisted completes and inspects within the body of a %%amp cell, where s and half are known, and below a %amp line;
// cursors are those of the cell as it stands in the notebook.
func TestMagicCellIsAssisted(t *testing.T) {
	s := startKernel(t, home(t))
	s.run("%%\nfmt.Println(1)").ok(t)
	const code = "%amp trace off // über\n%%amp float16 --show none\nx := half.Auto"
	var r map[string]any
	for began := time.Now(); time.Since(began) < patience; { // gopls takes its time to begin
		if r = s.ask("complete_request", map[string]any{"code": code, "cursor_pos": len([]rune(code))}); len(r["matches"].([]any)) > 0 {
			break
		}
		time.Sleep(500 * time.Millisecond)
	}
	if !strings.HasPrefix(fmt.Sprint(r["matches"]), "[Autocast") || r["cursor_end"] != float64(len([]rune(code))) || r["cursor_start"] != float64(len([]rune(code))-4) {
		t.Errorf("completion: %v", r)
	}
	for began := time.Now(); time.Since(began) < patience; time.Sleep(100 * time.Millisecond) {
		if r = s.ask("inspect_request", map[string]any{"code": code + "cast(amp.Float16)", "cursor_pos": len([]rune(code)), "detail_level": 0}); r["found"] == true {
			break
		}
	}
	if data, _ := r["data"].(map[string]any); r["found"] != true || !strings.Contains(fmt.Sprint(data["text/plain"]), "func (s *amp.Scope) Autocast") {
		t.Errorf("inspection: %v", r)
	}
	s.run("%amp version\n%%amp off --trace off\nfmt.Println(2)").ok(t)
	r = s.ask("history_request", map[string]any{"hist_access_type": "tail", "n": 1, "output": false, "raw": true})
	if got := fmt.Sprint(r["history"]); !strings.Contains(got, "%amp version\n%%amp off --trace off\nfmt.Println(2)") {
		t.Errorf("the history has %s", got)
	}
}

// TestMagicCellKeepsItsSession keeps a tensor and the random stream from one %%amp cell to the next, lists it with %amp session, saves
// it, drops it and loads it again.
func TestMagicCellKeepsItsSession(t *testing.T) {
	s := startKernel(t, home(t))
	const code = `%%amp off --trace off
t := session.Tensor("count", func(s *amp.Scope) *amp.Tensor { return amp.Zeros(s, amp.Float32, 3) })
for range s.Steps(2) {
	v := amp.Values[float32](t)
	amp.SetValues(t, []float32{v[0] + 1, v[1], v[2]})
}
fmt.Println(amp.Values[float32](t)[0])`
	for _, want := range []string{"2\n", "4\n"} {
		if r := s.run(code).ok(t); r.stdout != want {
			t.Fatalf("%q, want %q", r.stdout, want)
		}
	}
	if r := s.run(strings.Replace(code, "fmt.Println(", "panic(", 1)); r.reply["status"] != "error" {
		t.Fatal(r.reply)
	}
	for _, c := range []struct{ line, want string }{
		{"%amp session", "float32 [3]"},
		{"%amp session save count count.safetensors", "Saved count to count.safetensors"},
		{"%amp session drop cuont", `did you mean "count"?`},
		{"%amp session drop count", "Dropped count"},
		{"%amp session drop count", "is no object of this session"},
		{"%amp session load count count.safetensors", "Loaded count"},
	} {
		r := s.run(c.line)
		text := fmt.Sprint(r.reply["evalue"])
		if r.reply["status"] == "ok" {
			text = r.answer(t)
		}
		if !strings.Contains(text, c.want) {
			t.Errorf("%s: %s, want %q", c.line, text, c.want)
		}
	}
	if r := s.run(code).ok(t); r.stdout != "8\n" { // 4, and the two steps of the cell that panicked afterwards
		t.Errorf("after loading: %q", r.stdout)
	}
	if r := s.ask("complete_request", map[string]any{"code": "%amp session drop c", "cursor_pos": 19}); fmt.Sprint(r["matches"]) != "[count]" {
		t.Errorf("completion: %v", r["matches"])
	}
}
