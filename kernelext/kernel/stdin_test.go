package kernel

import (
	"fmt"
	"strings"
	"testing"
)

// testUnaskedInput: a program that reads without having asked is told how, once, and one that computes is not.
func testUnaskedInput(t *testing.T, s *server) {
	for _, read := range []string{"var name string\nfmt.Scanln(&name)", "bufio.NewReader(os.Stdin).ReadString('\\n')"} {
		m := s.submit("import (\n\"bufio\"\n\"os\"\n)\n%%\n" + read)
		s.waitOutput(m, "gonbui.RequestInput")
		s.reply(s.request(s.control, "interrupt_request", map[string]any{}))
		if r := s.result(m); strings.Count(r.stderr, "has not asked") != 1 {
			t.Errorf("%q", r.stderr)
		}
	}
	m := s.execute(s.shell, fmt.Sprintf("%%%%\ntime.Sleep(%d * time.Second)", lookPatience+3), nil)
	if r := s.result(m).ok(t); r.stderr != "" {
		t.Errorf("a cell that sleeps is told %q", r.stderr)
	}
}

// testPipeline: of a pipeline nobody waits for ever, and is told so.
func testPipeline(t *testing.T, s *server) {
	m := s.execute(s.shell, fmt.Sprintf("!sleep %d | cat", lookPatience+3), nil)
	if r := s.result(m).ok(t); r.stderr != "" {
		t.Errorf("a pipeline is told %q", r.stderr)
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
