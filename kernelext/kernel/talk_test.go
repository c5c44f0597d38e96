package kernel

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"
)

// TestTalk asks the kernel what the notebook extension asks, while nothing runs and while a cell does.
func TestTalk(t *testing.T) {
	s := startKernel(t, home(t))
	talk := func(id string, versions ...int) map[string]any {
		return s.heard(s.request(s.shell, "comm_open", map[string]any{"comm_id": id, "target_name": talkTarget, "data": map[string]any{"versions": versions}}), id)
	}
	n := 0
	ask := func(data map[string]any) map[string]any {
		t.Helper()
		n++
		data["id"] = n
		got := s.heard(s.request(s.shell, "comm_msg", map[string]any{"comm_id": "a", "data": data}), "a")
		if got["id"] != float64(n) {
			t.Errorf("the answer to %v has the id %v, want %d", data, got["id"], n)
		}
		return got
	}
	if got := talk("old", 7, 8); got["type"] != "error" || got["name"] != "version" || !strings.Contains(got["fix"].(string), "update") {
		t.Errorf("to unknown versions the kernel says %v", got)
	}
	if got := talk("a", 2, 1); got["type"] != "hello" || got["version"] != 1.0 {
		t.Errorf("the greeting is %v", got)
	}
	t.Run("force", func(t *testing.T) {
		for _, c := range []struct {
			op, to, before, forced string
		}{
			{"gelu", "float32", "default", "map[gelu:fp32]"}, {"gelu", "lower", "fp32", "map[gelu:lower]"}, {"linear", "float32", "default", "map[gelu:lower linear:fp32]"},
			{"gelu", "fp32", "lower", "map[gelu:fp32 linear:fp32]"}, {"gelu", "default", "fp32", "map[linear:fp32]"}, {"gelu", "default", "default", "map[linear:fp32]"},
		} {
			got := ask(map[string]any{"type": "force", "op": c.op, "to": c.to})
			if got["before"] != c.before || fmt.Sprint(got["forced"]) != c.forced {
				t.Errorf("force %s to %s: %v, want before %s and %s", c.op, c.to, got, c.before, c.forced)
			}
		}
		if r := s.run("%amp status").ok(t); !strings.Contains(fmt.Sprint(r.displays), "linear = fp32") {
			t.Errorf("%%amp status does not list what was forced: %v", r.displays)
		}
	})
	t.Run("scale", func(t *testing.T) {
		for _, c := range [][2]float64{{1024, 0}, {math.Ldexp(1, 20), 1024}, {0, math.Ldexp(1, 20)}, {0, 0}} {
			if got := ask(map[string]any{"type": "scale", "first": c[0]}); got["before"] != c[1] || got["first"] != c[0] {
				t.Errorf("scale %g: %v, want before %g", c[0], got, c[1])
			}
		}
	})
	t.Run("whatif", func(t *testing.T) {
		got := ask(map[string]any{"type": "whatif", "low": -30, "counts": []int{4, 0, 0, 0, 0, 3, 0, 2}, "scale": 1, "format": "float16"})
		if got["zero"] != 4.0 || got["subnormal"] != 5.0 || got["overflow"] != 0.0 || !strings.Contains(got["sentence"].(string), "of 9 numbers 4 are lost") {
			t.Errorf("without a scale: %v", got)
		}
		got = ask(map[string]any{"type": "whatif", "low": -30, "counts": []int{4, 0, 0, 0, 0, 3, 0, 2}, "scale": math.Ldexp(1, 38), "format": "e4m3"})
		if got["normal"] != 4.0 || got["overflow"] != 5.0 {
			t.Errorf("at 2^38 in e4m3: %v", got)
		}
	})
	t.Run("whatif by module", func(t *testing.T) {
		modules := []map[string]any{
			{"module": "net/0", "low": -10, "counts": []int{8}, "amax": math.Ldexp(1.5, -10)},
			{"module": "net/2", "low": -30, "counts": []int{3, 0, 0, 0, 0, 0, 1}, "amax": math.Ldexp(1, -24)},
			{"low": -12, "counts": []int{2}},
		}
		got := ask(map[string]any{"type": "whatif", "low": -30, "counts": []int{3}, "scale": 1, "format": "float16", "modules": modules})
		list, _ := got["modules"].([]any)
		if len(list) != 3 {
			t.Fatalf("%v", got)
		}
		of := func(i int, key string) any { return list[i].(map[string]any)[key] }
		// 65504 / (1.5·2^-10) is 2^25.4, which leaves 2^24 with a doubling to spare; 65504 / 2^-24 is just below 2^40, which leaves 2^38.
		if of(0, "normal") != 8.0 || of(0, "zero") != 0.0 || of(0, "best") != math.Ldexp(1, 24) || of(1, "zero") != 3.0 || of(1, "subnormal") != 1.0 || of(1, "best") != math.Ldexp(1, 38) || of(2, "best") != nil {
			t.Errorf("%v", list)
		}
		for _, w := range []string{"Worst off is net/2: 75% of its gradients are lost, 0% overflow.", "safe for every module is 16,777,216."} {
			if !strings.Contains(got["sentence"].(string), w) {
				t.Errorf("%q does not say %q", got["sentence"], w)
			}
		}
		got = ask(map[string]any{"type": "whatif", "scale": math.Ldexp(1, 34), "format": "float16", "modules": modules})
		if s := got["sentence"].(string); !strings.Contains(s, "Worst off is net/0: 0% of its gradients are lost, 100% overflow.") {
			t.Errorf("at 2^34: %q", s)
		}
	})
	t.Run("bad", func(t *testing.T) {
		for _, data := range []map[string]any{
			{"type": "force", "op": "gelo", "to": "float32"}, {"type": "force", "op": "gelu", "to": "rm -rf"}, {"type": "force", "op": "gelu=fp32 clear", "to": "float32"}, {"type": "force"},
			{"type": "scale", "first": -1}, {"type": "scale", "first": 1e300},
			{"type": "whatif", "scale": 3, "format": "float16"}, {"type": "whatif", "scale": 1, "format": "int3"}, {"type": "whatif", "scale": 1, "format": "float16", "counts": []int{-1}},
			{"type": "whatif", "scale": 1, "format": "float16", "low": 1 << 40, "counts": []int{1}}, {"type": "whatif", "scale": 1, "format": "float16", "counts": make([]int, 500)},
			{"type": "whatif", "scale": 1, "format": "float16", "modules": make([]map[string]any, 65)}, {"type": "whatif", "scale": 1, "format": "float16", "modules": []map[string]any{{"counts": []int{-1}}}},
			{"type": "whatif", "scale": 1, "format": "float16", "modules": []map[string]any{{"amax": -1}}}, {"type": "whatif", "scale": 1, "format": "float16", "modules": []map[string]any{{"low": 5000}}},
			{"type": "what is this"}, {"type": ""}, {},
		} {
			if got := ask(data); got["type"] != "error" || got["detail"] == "" {
				t.Errorf("%v is answered by %v, want an error", data, got)
			}
		}
		for _, raw := range []string{`"text"`, `[1]`, `{"type":7}`, `{"type":"whatif","counts":"x"}`, `{"type":"force","op":["gelu"]}`, `{"type":"status","id":"` + strings.Repeat("x", 1<<17) + `"}`} {
			m := s.request(s.shell, "comm_msg", map[string]any{"comm_id": "a", "data": json.RawMessage(raw)})
			if got := s.heard(m, "a"); got["type"] != "error" {
				t.Errorf("%.40s is answered by %v, want an error", raw, got)
			}
		}
		m := s.request(s.shell, "comm_msg", map[string]any{"comm_id": "stranger", "data": map[string]any{"type": "status", "id": 5}})
		if got := s.heard(m, "stranger"); got["name"] != "closed" || got["id"] != 5.0 {
			t.Errorf("an unknown comm is answered by %v", got)
		}
	})
	t.Run("many", func(t *testing.T) {
		for i := range maxTalks + 5 {
			talk(fmt.Sprint("page ", i), 1)
		}
		open := s.ask("comm_info_request", map[string]any{"target_name": talkTarget})["comms"].(map[string]any)
		if len(open) != maxTalks {
			t.Errorf("%d comms are kept, want %d", len(open), maxTalks)
		}
		talk("a", 1)
	})
	t.Run("while a cell runs", func(t *testing.T) {
		cell := s.submit("%%\nfor {\n\ttime.Sleep(time.Millisecond)\n}")
		var got map[string]any
		for began := time.Now(); time.Since(began) < patience; {
			if got = ask(map[string]any{"type": "status"}); got["running"] == true && got["process_bytes"].(float64) > 0 {
				break
			}
		}
		if got["running"] != true || got["device"] != "cpu" || fmt.Sprint(got["forced"]) != "map[linear:fp32]" || got["objects"] != 0.0 {
			t.Errorf("the status of a running cell is %v", got)
		}
		if got := ask(map[string]any{"type": "force", "op": "linear", "to": "default"}); got["before"] != "fp32" {
			t.Errorf("%v", got)
		}
		s.request(s.control, "interrupt_request", map[string]any{})
		if r := s.result(cell); r.reply["status"] != "error" {
			t.Errorf("%v", r.reply)
		}
	})
	t.Run("after a figure", func(t *testing.T) {
		s.run("%%\nl := widgets.NewLive(3, \"Three\")\nfor i := range 3 {\n\tl.StepLoss(float64(3-i), nil)\n}\nl.Done()").ok(t)
		live, _ := ask(map[string]any{"type": "status"})["live"].(map[string]any)
		if live["title"] != "Three" || live["state"] != "done" || live["step"] != 3.0 || live["loss"] != 1.0 {
			t.Errorf("of a live figure that has ended the kernel says %v", live)
		}
	})
}

// heard waits for what a comm says to a message.
func (s *server) heard(m *message, id string) (data map[string]any) {
	s.t.Helper()
	s.wait("answer on comm "+id, func() bool {
		for _, p := range s.iopub {
			if p.kind == "comm_msg" && p.parentID() == m.id && content(p)["comm_id"] == id {
				data, _ = content(p)["data"].(map[string]any)
				return true
			}
		}
		return false
	})
	return data
}
