package kernel

import (
	"fmt"
	"strings"
	"testing"
)

// testUnaskedInput: a program that reads without having asked gets what the user types, line by line, and so does what it starts; one
// that computes gets no box.
func testUnaskedInput(t *testing.T, s *server) {
	for _, c := range []struct {
		name, cell string
		lines      []string
		want       string
	}{
		{"a number and a name", "%%\nvar n int\nvar name string\nfmt.Print(\"how many, and who? \")\nfmt.Scanln(&n)\nfmt.Scanln(&name)\nfmt.Println(n+1, name)", []string{"41", "Ada"}, "how many, and who? 42 Ada\n"},
		{"a buffered reader", "import (\n\"bufio\"\n\"os\"\n)\n%%\nline, err := bufio.NewReader(os.Stdin).ReadString('\\n')\nfmt.Printf(\"%q %v\", line, err)", []string{"größer ½ \\"}, `"größer ½ \\\n" <nil>`},
		{"a longer line than a pipe holds", "import (\n\"bufio\"\n\"os\"\n)\n%%\nline, _ := bufio.NewReader(os.Stdin).ReadString('\\n')\nfmt.Print(len(line))", []string{strings.Repeat("x", 200_000)}, "200001"},
		{"a child", "import (\n\"os\"\n\"os/exec\"\n)\n%%\nc := exec.Command(\"head\", \"-n1\")\nc.Stdin, c.Stdout = os.Stdin, os.Stdout\nfmt.Println(c.Run())", []string{"passed on"}, "passed on\n<nil>\n"},
		{"a shell", "!read a; echo got $a", []string{"it"}, "got it\n"},
	} {
		m := s.submit(c.cell)
		for i, text := range c.lines {
			in := s.waitAsked(t, m, i+1)
			if q := content(in[i]); q["prompt"] != stdinPrompt || q["password"] != false {
				t.Errorf("%s: %v", c.name, q)
			}
			s.stdin.send(s.author.compose("input_reply", in[i], map[string]any{"status": "ok", "value": text}).frames())
		}
		if r := s.result(m).ok(t); r.stdout != c.want || r.stderr != "" || len(s.asked(m)) != len(c.lines) {
			t.Errorf("%s: %.100q, want %.100q; %q; %d questions", c.name, r.stdout, c.want, r.stderr, len(s.asked(m)))
		}
	}

	// Interrupted while the box is there, and nobody types into the next cell by what comes late.
	m := s.submit("%%\nvar name string\nfmt.Scanln(&name)")
	in := s.waitAsked(t, m, 1)
	s.reply(s.request(s.control, "interrupt_request", map[string]any{}))
	if r := s.result(m); r.reply["status"] != "error" || r.reply["ename"] != "Interrupted" {
		t.Errorf("%v", r.reply)
	}
	s.stdin.send(s.author.compose("input_reply", in[0], map[string]any{"status": "ok", "value": "late"}).frames())

	// Where nobody can be asked the cell is told, once.
	m = s.execute(s.shell, "%%\nvar name string\nfmt.Scanln(&name)", nil)
	s.waitOutput(m, "allow_stdin is false")
	s.reply(s.request(s.control, "interrupt_request", map[string]any{}))
	if r := s.result(m); strings.Count(r.stderr, "allow_stdin is false") != 1 || len(s.asked(m)) > 0 {
		t.Errorf("%q, %d questions", r.stderr, len(s.asked(m)))
	}

	m = s.submit("%%\ntime.Sleep(3 * time.Second)")
	if r := s.result(m).ok(t); r.stderr != "" || len(s.asked(m)) > 0 {
		t.Errorf("a cell that sleeps is told %q and asked %d times", r.stderr, len(s.asked(m)))
	}
}

// testPipeline: of a pipeline nobody waits for ever, and gets a box.
func testPipeline(t *testing.T, s *server) {
	m := s.submit("!sleep 4 | cat")
	if r := s.result(m).ok(t); r.stderr != "" || len(s.asked(m)) > 0 {
		t.Errorf("a pipeline is told %q and asked %d times", r.stderr, len(s.asked(m)))
	}
}

// testLeftBehind: a cell whose program has ended, and has left its output to another one, is told so, and an interrupt ends it.
func testLeftBehind(t *testing.T, s *server) {
	for _, start := range []string{`exec.Command("sleep", "300")`, `exec.Command("setsid", "sleep", "300")`, `exec.Command("sh", "-c", "sleep 300 & sleep 300 &")`} {
		m := s.submit("import \"os/exec\"\n%%\nc := " + start + "\nc.Stdout = os.Stdout\nif err := c.Start(); err != nil {\n\tpanic(err)\n}\nfmt.Println(\"started\")")
		s.waitOutput(m, "still holds its output")
		s.reply(s.request(s.control, "interrupt_request", map[string]any{}))
		r := s.result(m)
		if strings.Count(r.stderr, "still holds its output") != 1 || !strings.Contains(r.stderr, "sleep (process ") || !strings.Contains(r.stdout, "started") {
			t.Errorf("%s: %q %q", start, r.stdout, r.stderr)
		}
	}
	s.run("%%\nfmt.Println(1)").ok(t)
}

// TestStdinRead reads what the system says of threads.
func TestStdinRead(t *testing.T) {
	for line, want := range map[string]bool{
		fmt.Sprintf("%d 0x0 0xc000012000 0x1000 0x0 0x0 0x0 0x7ffe 0x47b\n", readCall): true,
		fmt.Sprintf("%d 0x3 0xc000012000 0x1000 0x0 0x0 0x0 0x7ffe 0x47b\n", readCall): false,
		"202 0x0 0x80 0x0\n": false, "running\n": false, "-1 0x7ffe 0x47b\n": false, "": false,
	} {
		if got := isStdinRead(line); got != want {
			t.Errorf("%q: %v", line, got)
		}
	}
}
