package browser

import (
	"encoding/json"
	"strings"
	"testing"
)

// edited is a sample figure with some of its values changed, named by their paths: "data.step", "volatile.wall_ns". A nil takes one out.
func edited(t *testing.T, name string, values map[string]any) json.RawMessage {
	t.Helper()
	var f map[string]any
	if err := json.Unmarshal(samples(t)[name], &f); err != nil {
		t.Fatal(err)
	}
	for path, v := range values {
		keys := strings.Split(path, ".")
		at := f
		for _, k := range keys[:len(keys)-1] {
			at = at[k].(map[string]any)
		}
		if at[keys[len(keys)-1]] = v; v == nil {
			delete(at, keys[len(keys)-1])
		}
	}
	b, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestSays: what the extension says of a figure's state and counts is what package widgets says of them.
func TestSays(t *testing.T) {
	ready(t)
	p := openPage(t, strict)
	for _, c := range []struct {
		name, of    string
		values      map[string]any
		want, never []string
	}{
		{"a scale that collapsed", "live_stopped", map[string]any{"data.scale": nil, "data.skipped": 12}, []string{"loss scale0 collapsed, 12 skipped"}, nil},
		{"no scaler", "live_done", map[string]any{"data.scale": nil, "data.skipped": nil, "data.skips": nil, "data.sentence": "Done."}, nil, []string{"loss scale", "skipped"}},
		{"done", "live_done", nil, []string{"✓ done", "took 2.7 s"}, []string{"so far", "left"}},
		{"stopped", "live_stopped", nil, []string{"■ stopped", "took 2.7 s"}, []string{"so far", "left"}},
		{"running", "live_running", nil, []string{"▶ running", "10.4 s left, 2.7 s so far"}, []string{"took"}},
		{"as often in every step", "decisions", map[string]any{"data.steps": 25}, []string{" ×4"}, []string{" in 25 steps"}},
		{"not as often in every step", "decisions", map[string]any{"data.steps": 40}, []string{" ×100 in 40 steps"}, []string{" ×3 "}},
		{"runs of no dtype", "compare_none", nil, []string{"mean at the end", "against the first"}, []string{"■", "▯", "▮"}},
		{"the mean that a percentage is of", "compare", nil, []string{"0.084401", "0.085038", "+0.755%"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			p.figure(c.name, edited(t, c.of, c.values))
			p.snapPage("says-" + strings.ReplaceAll(c.name, " ", "-"))
			var got string
			p.eval("reading", `document.querySelector('.ht-card').textContent`, &got)
			for _, w := range c.want {
				if !strings.Contains(got, w) {
					t.Errorf("no %q in %.600q", w, got)
				}
			}
			for _, w := range c.never {
				if strings.Contains(got, w) {
					t.Errorf("%q in %.600q", w, got)
				}
			}
		})
	}
	p.quiet()
}
