package widgets

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/widgets/internal/sample"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestTextGolden(t *testing.T) {
	for name, f := range samples() {
		if f.Policy != nil && name != "policy_few" {
			continue // every op that is added would change it
		}
		t.Run(name, func(t *testing.T) {
			file := filepath.Join("testdata", name+".txt")
			got := f.Text()
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("text differs from %s (go test -update writes it anew):\n%s", file, got)
			}
		})
	}
}

// TestTextIsPlain: no escape codes, no blank line ends, a newline at the end.
func TestTextIsPlain(t *testing.T) {
	for name, f := range samples() {
		text := f.Text()
		if strings.ContainsAny(text, "\x1b\t\r") || strings.Contains(text, " \n") || !strings.HasSuffix(text, "\n") || strings.HasSuffix(text, "\n\n") {
			t.Errorf("%s: %q", name, text)
		}
		for _, l := range strings.Split(text, "\n") {
			if width(l) > 125 {
				t.Errorf("%s: a line of %d columns: %s", name, width(l), l)
			}
		}
	}
	if got := (*Figure)(nil).Text(); got != "No figure.\n" {
		t.Errorf("nil figure: %q", got)
	}
}

func TestJSONRoundTrip(t *testing.T) {
	for name, f := range samples() {
		b, err := json.Marshal(f)
		if err != nil {
			t.Fatal(err)
		}
		g, err := Parse(b)
		if err != nil {
			t.Fatal(name, err)
		}
		again, err := json.Marshal(g)
		if err != nil {
			t.Fatal(err)
		}
		if string(b) != string(again) {
			t.Errorf("%s: the JSON changed:\n%s\n%s", name, b, again)
		}
		if f.Text() != g.Text() {
			t.Errorf("%s: the text changed", name)
		}
		if name != "compare_nan" && name != "compare_nothing" && name != "live_begin" && name != "live_diverged" && !strings.HasPrefix(name, "bits") && !reflect.DeepEqual(f, g) { // NaN differs from itself
			t.Errorf("%s: the figure changed:\n%+v\n%+v", name, f, g)
		}
	}
}

// TestJSONMatchesItsSchema validates every sample against widgets/schema/figure.v1.json.
func TestJSONMatchesItsSchema(t *testing.T) {
	schema, err := jsonschema.NewCompiler().Compile("schema/figure.v1.json")
	if err != nil {
		t.Fatal(err)
	}
	check := func(b []byte) error {
		v, err := jsonschema.UnmarshalJSON(strings.NewReader(string(b)))
		if err != nil {
			return err
		}
		return schema.Validate(v)
	}
	for name, f := range samples() {
		b, err := json.Marshal(f)
		if err != nil {
			t.Fatal(err)
		}
		if err := check(b); err != nil {
			t.Errorf("%s: %v\n%.2000s", name, err, b)
		}
	}
	for _, bad := range []string{
		`{"schema":"halftone.figure/2","kind":"compare","title":"t","alt":"a","data":{"runs":[]}}`,
		`{"schema":"halftone.figure/1","kind":"compare","title":"t","alt":"","data":{"runs":[]}}`,
		`{"schema":"halftone.figure/1","kind":"compare","title":"t","alt":"a","data":{}}`,
		`{"schema":"halftone.figure/1","kind":"compare","title":"t","alt":"a","data":{"runs":[],"extra":1}}`,
		`{"schema":"halftone.figure/1","kind":"decisions","title":"t","alt":"a","data":{"runs":[]}}`,
	} {
		if check([]byte(bad)) == nil {
			t.Errorf("the schema accepts %s", bad)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for raw, want := range map[string]string{
		``: "unexpected end", `{}`: `schema ""`, `{"schema":"halftone.figure/2"}`: "update Halftone",
		`{"schema":"halftone.figure/1","kind":"movie","data":{}}`:                                 `"movie"`,
		`{"schema":"halftone.figure/1","kind":"decisions"}`:                                       "no data",
		`{"schema":"halftone.figure/1","kind":"decisions","data":null}`:                           "no data",
		`{"schema":"halftone.figure/1","kind":"scale_history","data":{"points":[[1]]}}`:           "parts",
		`{"schema":"halftone.figure/1","kind":"scale_history","data":{"scale":"many"}}`:           `"many"`,
		`{"schema":"halftone.figure/1","kind":"decisions","data":{"sites":[{"compute":"int3"}]}}`: "int3",
	} {
		if _, err := Parse([]byte(raw)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", raw, err, want)
		}
	}
	if _, err := Parse(make([]byte, MaxParse+1)); !errors.Is(err, ErrTooLarge) {
		t.Errorf("too large: %v", err)
	}
}

func TestMarshalRefusesUnknownKinds(t *testing.T) {
	if _, err := json.Marshal(Figure{Kind: "movie"}); err == nil || !strings.Contains(err.Error(), "movie") {
		t.Errorf("error %v", err)
	}
}

// TestStable: without its measurements the figure of the same computation is the same, and the original keeps them.
func TestStable(t *testing.T) {
	slow := sample.MLP(3)
	for i := range slow.Events {
		slow.Events[i].NS *= 7
	}
	slow.WallNS, slow.OverheadNS = 5e9, 3e6
	a, b := Decisions(sample.MLP(3)), Decisions(slow)
	if a.Text() == b.Text() {
		t.Error("the measurements are not in the text")
	}
	x, _ := json.Marshal(a.Stable())
	y, _ := json.Marshal(b.Stable())
	if string(x) != string(y) || a.Stable().Text() != b.Stable().Text() {
		t.Error("the stable figures differ")
	}
	if a.Volatile == nil || (*Figure)(nil).Stable() != nil {
		t.Error("Stable changed its receiver or made a figure of nothing")
	}
}

func TestNumber(t *testing.T) {
	for _, v := range []float64{0, 1, -1, .1, 65536, 1e-40, 1e300, 5e-324, math.Inf(1), math.Inf(-1), math.MaxFloat32} {
		n := number(v)
		b, err := json.Marshal(n)
		if err != nil {
			t.Fatal(err)
		}
		var got Number
		if err := json.Unmarshal(b, &got); err != nil || got != n {
			t.Errorf("%v: wrote %s, read %v, error %v", v, b, got, err)
		}
	}
	var n Number
	if err := json.Unmarshal([]byte(`"NaN"`), &n); err != nil || !math.IsNaN(float64(n)) {
		t.Errorf("NaN: %v, %v", n, err)
	}
	if err := json.Unmarshal([]byte(`true`), &n); err == nil {
		t.Error("true is not a number")
	}
}

// TestLightImports: every cell links this package, and what it imports.
func TestLightImports(t *testing.T) {
	goTool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("no go command")
	}
	out, err := exec.Command(goTool, "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, dep := range strings.Fields(string(out)) {
		for _, heavy := range []string{"gonum.org/", "go-echarts", "html/template", "widgets/render", "kernelext", "janpfeifer/gonb", "encoding/gob", "crypto/", "regexp", "net"} {
			if strings.HasPrefix(dep, heavy) || strings.Contains(dep, "/"+heavy) {
				t.Errorf("widgets links %s", dep)
			}
		}
	}
}

// TestJSONStaysSmall on inputs of any size; what is left out is counted.
func TestJSONStaysSmall(t *testing.T) {
	trace := sample.Large(300)
	for i := range trace.Events {
		trace.Events[i].Module = fmt.Sprintf("%s%c/x%dy", trace.Events[i].Module, 'a'+i%26, i/26)
	}
	d := Decisions(trace)
	if d.Decisions.More == 0 || !strings.Contains(d.Alt, "not shown") || !strings.Contains(d.Text(), "more rows") {
		t.Errorf("%d rows left out, alt %q", d.Decisions.More, d.Alt)
	}
	rows := 0
	for _, m := range d.Decisions.Modules() {
		rows += len(m.Rows) + len(m.Backward)
	}
	loose := 0
	for _, e := range trace.Events {
		if e.Cast == nil {
			loose++ // every event has a module of its own here, so each is a row
		}
	}
	if rows+d.Decisions.More != loose {
		t.Errorf("%d rows shown and %d left out of %d", rows, d.Decisions.More, loose)
	}
	for name, f := range map[string]*Figure{"decisions": d, "history": ScaleHistory(noisy(100_000)), "runs": Compare(longRuns()...)} {
		b, err := json.Marshal(f)
		if err != nil {
			t.Fatal(err)
		}
		if len(b) > MaxJSON {
			t.Errorf("%s: %d bytes of JSON", name, len(b))
		}
		if len(f.Text()) > 16<<10 {
			t.Errorf("%s: %d bytes of text", name, len(f.Text()))
		}
	}
}

func noisy(steps int) amp.ScaleHistory {
	return sample.Scaler{Steps: steps, Init: 65536, Interval: 7, Overflow: func(i int, scale float64) (string, string) {
		if i%11 == 0 || scale > 1<<18 {
			return fmt.Sprintf("layer%d.weight", i%500), "+Inf"
		}
		return "", ""
	}}.History()
}

func longRuns() (runs []Run) {
	for i := range 20 {
		runs = append(runs, Run{Name: fmt.Sprint("run ", i), DType: amp.Float16, Loss: sample.Loss(100_000, 5, .1, 1e-4, .3)})
	}
	return runs
}
