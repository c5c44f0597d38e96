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
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/widgets/internal/sample"
)

var update = flag.Bool("update", false, "write the golden files anew")

// samples are one figure of each kind and state.
var samples = sync.OnceValue(func() map[string]*Figure {
	return map[string]*Figure{
		"decisions":        Decisions(sample.MLP(50)),
		"decisions_once":   Decisions(sample.MLP(1)).Stable(),
		"decisions_large":  Decisions(sample.Large(48)),
		"decisions_health": Decisions(sample.Healthy(5)),
		"decisions_none":   Decisions(nil),
		"decisions_empty":  Decisions(&amp.Trace{Level: "decisions", Device: "cpu"}),
		"decisions_off":    Decisions(&amp.Trace{Level: "off", Device: "cpu"}),
		"steady":           ScaleHistory(sample.Steady()),
		"calibrating":      ScaleHistory(sample.Calibrating()),
		"collapsing":       ScaleHistory(sample.Collapsing()),
		"floor":            ScaleHistory(floored()),
		"disabled":         ScaleHistory(amp.ScaleHistory{Scale: 1}),
		"no_steps":         ScaleHistory(amp.ScaleHistory{Enabled: true, InitScale: 65536, Scale: 65536, GrowthInterval: 2000}),
		"compare":          Compare(threeRuns()...),
		"compare_nothing":  Compare(),
		"exponents":        Exponents(sample.Gradients(3, -18, fixed(65536), "net/4", "net/2", "net/0", "loss"), amp.ScaleHistory{Enabled: true, Scale: 65536, Nominal: 3}),
		"exponents_plain":  Exponents(sample.Gradients(1, -12, fixed(1), "")),
		"exponents_over":   Exponents(sample.Gradients(2, 2, fixed(4096), "net/0", "net/1"), amp.ScaleHistory{Enabled: true, Scale: 8192, Nominal: 2, Steps: []amp.ScaleStep{{Scale: 4096, Next: 4096}, {Step: 1, Scale: 4096, Next: 8192}}}),
		"exponents_none":   Exponents(sample.MLP(2)),
		"flow":             GradientFlow(sample.Flow(0)),
		"flow_scaled":      GradientFlow(sample.Flow(9)),
		"flow_over":        GradientFlow(sample.Flow(22)),
		"flow_none":        GradientFlow(nil),
		"rounding":         Rounding(sample.Rounding(amp.Float16)),
		"rounding_fp32":    Rounding(sample.Rounding(amp.Float32)),
		"rounding_over":    Rounding(sample.RoundingOver()),
		"rounding_bad":     Rounding(sample.RoundingBroken()),
		"rounding_none":    Rounding(nil),
		"rounding_deep":    Rounding(sample.RoundingDeep(6, func(i int) string { return fmt.Sprint("stack", i, "/") })),
		"live_begin":       liveSample(2000, 0),
		"live_running":     liveSample(2000, 412),
		"live_done":        liveSample(500, 500),
		"live_stopped":     liveSample(2000, 412).Stopped(),
		"live_diverged":    diverging(liveSample(0, 60)),
		"compare_ops":      Compare(tracedRuns()...),
		"bits":             Bits(0.1),
		"bits_edges":       Bits(1e-8, 70000, 6e-5, 1, 0, math.Inf(-1), math.NaN(), 65519.99, 2, 3),
		"bits_none":        Bits(),
		"policy":           Policy(),
		"policy_forced":    forcedPolicy(),
		"policy_few":       fewOps(forcedPolicy()),
		"custom":           Own("Dots", dots{3}),
		"custom_nil":       Own("", nil),
		"compare_nan": Compare(Run{Name: "float32", DType: amp.Float32, Loss: []float64{1, .5, .25}},
			Run{Name: "float16, no scaler", DType: amp.Float16, Loss: []float64{1, math.Inf(1), math.NaN()}}),
	}
})

// forcedPolicy is the op table of a bfloat16 scope by the CPU lists with two overrides.
func forcedPolicy() *Figure {
	root := amp.NewScope(amp.On("cpu"))
	defer root.Close()
	return Policy(root.Autocast(amp.BFloat16, amp.UseLists(amp.CPULists), amp.Force("gelu", amp.FP32), amp.Force("softmax", amp.Lower)))
}

// fewOps keeps some ops of the table, so that the text stays the same when ops are added.
func fewOps(f *Figure) *Figure {
	d := f.Policy
	d.Ops = slices.DeleteFunc(d.Ops, func(o PolicyOp) bool {
		return !slices.Contains([]string{"add", "argmax", "binary_cross_entropy", "cat", "conv2d", "exp", "gelu", "linear", "relu", "relu_backward", "softmax", "sum"}, o.Name)
	})
	for i := range d.Classes {
		d.Classes[i].Ops = 0
		for _, g := range d.Grouped(d.Classes[i].Class, false) {
			d.Classes[i].Ops += len(g.Ops)
		}
	}
	d.Sentence = d.finding()
	f.Alt = d.Sentence
	return f
}

// dots is a figure of a user's own, with every face.
type dots struct{ n int }

func (d dots) Text() string { return strings.Repeat("● ", d.n) + "\n" + fmt.Sprint(d.n, " dots") }
func (d dots) SVG() string {
	return `<svg xmlns="http://www.w3.org/2000/svg" width="90" height="20">` + strings.Repeat(`<circle cx="10" cy="10" r="8"/>`, d.n) + `</svg>`
}
func (d dots) HTML() string { return "<b>" + strings.Repeat("●", d.n) + "</b>" }
func (d dots) Data() any    { return map[string]int{"dots": d.n} }
func (d dots) Alt() string  { return fmt.Sprintf("There are %d dots.", d.n) }

// fixed is a loss scale that stays.
func fixed(scale float64) func(int) float64 { return func(int) float64 { return scale } }

// tracedRuns bring their traces and their memory, and one of them is shorter.
func tracedRuns() []Run {
	return []Run{
		{Name: "float32", DType: amp.Float32, Loss: sample.Loss(400, 2.31, .08, .02, .05), StepNS: []int64{812_000}, Bytes: 158_900_000, Trace: sample.Looked(3, 0, 1, amp.Float32)},
		{Name: "float16 + scaler", DType: amp.Float16, Loss: sample.Loss(400, 2.3105, .0801, .02, .0502), StepNS: []int64{930_000}, Bytes: 98_500_000, Skipped: 1, Trace: sample.Looked(3, 3e-4, 65536, amp.Float16)},
		{Name: "bfloat16", DType: amp.BFloat16, Loss: sample.Loss(320, 2.312, .0803, .0199, .051), StepNS: []int64{921_000}, Bytes: 99_100_000, Trace: sample.Looked(3, 2.5e-3, 1, amp.BFloat16)},
	}
}

func threeRuns() []Run {
	return []Run{
		{Name: "float32", DType: amp.Float32, Loss: sample.Loss(50, 1.31, .08, .12, .02), StepNS: []int64{900_000, 812_000, 790_000}},
		{Name: "float16 + scaler", DType: amp.Float16, Loss: sample.Loss(50, 1.312, .0802, .118, .021), StepNS: []int64{930_000}, Skipped: 1},
		{Name: "bfloat16", DType: amp.BFloat16, Loss: sample.Loss(50, 1.33, .083, .11, .03)},
	}
}

// liveSample is a live figure in the middle of a loop, with measurements that are always the same.
func liveSample(total, steps int) *Figure {
	l := newLive(total, "Training in float16")
	losses := sample.Loss(max(steps, 1), 2.31, .01, .002, .05)
	for i := range steps {
		r := &amp.StepReport{ScaleStep: amp.ScaleStep{Step: i, Scale: 65536, Next: 65536, Applied: i%150 != 7, Culprit: "fc2.weight"}}
		if i%150 == 7 {
			r.Next = 32768
		}
		l.count("cpu", &losses[i], r)
	}
	if steps == total {
		l.state.State = LiveDone
	}
	f := l.Figure()
	f.Volatile = &Volatile{WallNS: 2_700_000_000, Rate: number(152.6), Bytes: 12_300_000, PeakBytes: 15_100_000}
	if total > steps {
		f.Volatile.LeftNS = 10_400_000_000
	}
	return f
}

// diverging ends a live figure with losses that are not finite.
func diverging(f *Figure) *Figure {
	d := f.Live
	d.Step, d.Diverged, d.Loss = d.Step+3, d.Step, Number(math.NaN())
	for i := range 3 {
		d.Points = append(d.Points, LossPoint{d.Diverged + i, Number(math.NaN())})
	}
	d.describe(f)
	return f
}

// floored is a run whose scale fell to its floor.
func floored() amp.ScaleHistory {
	return sample.Scaler{Steps: 90, Init: 1024, Interval: 500, Min: 256, Overflow: func(i int, _ float64) (string, string) {
		if i > 60 && i%9 > 6 {
			return "0.weight", "+Inf"
		}
		return "", ""
	}}.History()
}

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
