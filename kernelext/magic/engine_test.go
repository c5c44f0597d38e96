package magic

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/widgets"
)

var update = flag.Bool("update", false, "write the golden files anew")

// ask answers lines in order and returns the last answer.
func ask(t *testing.T, e *Engine, lines ...string) (a Answer, err error) {
	t.Helper()
	for _, line := range lines {
		c, wrong := Parse(line)
		if wrong != nil {
			t.Fatal(wrong)
		}
		if a, err = e.Run(context.Background(), c.Lines[0]); err != nil && line != lines[len(lines)-1] {
			t.Fatal(err)
		}
	}
	return a, err
}

// A shelf is a session in memory.
type shelf struct {
	objects []Object
	log     []string
}

func (s *shelf) List() ([]Object, error) { return s.objects, nil }
func (s *shelf) Drop(name string) error {
	s.objects = slices.DeleteFunc(s.objects, func(o Object) bool { return o.Name == name || name == "*" })
	return nil
}
func (s *shelf) Save(name, file string) error {
	s.log = append(s.log, "save "+name+" "+file)
	return nil
}
func (s *shelf) Load(name, file string) error {
	s.log = append(s.log, "load "+name+" "+file)
	return errors.New("the file is of another model")
}

func newShelf() *shelf {
	return &shelf{objects: []Object{{"net", "model", 1_234_567, "*nn.Sequential · 6 tensors · float32"}, {"scaler", "optimizer", 80, ""}, {"emb", "tensor", 2_000_000, "float32 [1000 500]"}}}
}

// TestAnswersGolden compares texts with files, for eyes.
func TestAnswersGolden(t *testing.T) {
	t.Setenv(widgets.StableEnv, "")
	e := &Engine{
		Versions: [][2]string{{"Halftone", "1.0"}, {"GoNB", "v0.11.4"}, {"Go", "1.26"}},
		Devices:  func() []Device { return []Device{{"cpu", "8 threads, amd64", ""}, {"cuda", "", "no libcuda is found"}} },
		Sessions: newShelf(),
		Usage:    func() (Usage, bool) { return Usage{1.5, map[string]int64{"cpu": 12_300_000}, 50}, true },
	}
	for name, lines := range map[string][]string{
		"help":    {"%amp"},
		"trace":   {"%amp help trace"},
		"softmax": {"%amp policy softmax"},
		"forced":  {"%amp force gelu=fp32 exp=float16"},
		"status":  {"%amp scale 2^12 interval 100", "%amp trace health every 10", "%amp device auto", "%amp force clear", "%amp force gelu=fp32", "%amp status"},
		"device":  {"%amp device default", "%amp device"},
		"session": {"%amp session sizes"},
	} {
		a, err := ask(t, e, lines...)
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join("testdata", name+".txt")
		if *update {
			if err := os.WriteFile(file, []byte(a.Text()), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if a.Text() != string(want) {
			t.Errorf("the answer differs from %s (go test -update writes it anew):\n%s", file, a.Text())
		}
		e = &Engine{Versions: e.Versions, Devices: e.Devices, Sessions: e.Sessions, Usage: e.Usage}
	}
}

// TestWrongWords checks that an error names the word that was wrong and the one that was meant, and changes nothing.
func TestWrongWords(t *testing.T) {
	e := &Engine{Devices: func() []Device { return []Device{{Name: "cpu"}, {Name: "cuda", Err: "no libcuda is found"}} }, Sessions: newShelf()}
	for line, want := range map[string]Error{
		"%amp staus":                   {Word: "staus", Near: "status"},
		"%amp Help":                    {Word: "Help", Near: "help"},
		"%amp xyzzy":                   {Word: "xyzzy"},
		"%amp status now":              {Word: "now"},
		"%amp help tarce":              {Word: "tarce", Near: "trace"},
		"%amp device gpu":              {Word: "gpu", Near: "cuda"},
		"%amp device cud:0":            {Word: "cud:0", Near: "cuda:0"},
		"%amp device cuda:1":           {Word: "cuda:1"},
		"%amp device cpu cuda":         {Word: "cuda"},
		"%amp policy MatMul":           {Word: "MatMul", Near: "matmul"},
		"%amp policy softmax lienar":   {Word: "lienar", Near: "linear"},
		"%amp force gelu":              {Word: "gelu"},
		"%amp force off":               {Word: "off", Near: "clear"},
		"%amp force gelu=int8":         {Word: "int8"},
		"%amp force gelu=fp23":         {Word: "fp23", Near: "fp32"},
		"%amp force clear softmax":     {Word: "softmax"},
		"%amp force dropuot=fp32":      {Word: "dropuot", Near: "dropout"},
		"%amp trace decision":          {Word: "decision", Near: "decisions"},
		"%amp trace health evry 3":     {Word: "evry", Near: "every"},
		"%amp trace health every":      {},
		"%amp trace health every none": {Word: "none"},
		"%amp trace off every 3":       {Word: "every"},
		"%amp trace health every 3 4":  {Word: "4"},
		"%amp ops sofmax":              {Word: "sofmax", Near: "softmax"},
		"%amp scale 0":                 {Word: "0"},
		"%amp scale 1e39":              {Word: "1e39"},
		"%amp scale intervl 3":         {Word: "intervl", Near: "interval"},
		"%amp scale 8 interval":        {Word: "interval"},
		"%amp scale 8 interval -1":     {Word: "-1"},
		"%amp scale 8 min 16":          {},
		"%amp scale default 3":         {Word: "3"},
		"%amp session dorp net":        {Word: "dorp", Near: "drop"},
		"%amp session drop":            {},
		"%amp session drop net neet":   {Word: "neet", Near: "net"},
		"%amp session save net":        {},
		"%amp session save nte f":      {Word: "nte", Near: "net"},
		"%amp doctor":                  {Word: "doctor"},
		"%amp version 2":               {Word: "2"},
	} {
		_, err := ask(t, e, line)
		var got *Error
		if !errors.As(err, &got) {
			t.Errorf("%s: %v", line, err)
			continue
		}
		if got.Word != want.Word || got.Near != want.Near || got.Source != line || got.Line != 1 {
			t.Errorf("%s: %+v", line, got)
		}
		if got.Word != "" && !strings.Contains(got.Error(), got.Word) || want.Near != "" && !strings.Contains(got.Error(), "did you mean \""+want.Near+"\"?") {
			t.Errorf("%s: the error says %s", line, got)
		}
		if want.Near == "" && got.Fix == "" && got.Word != "xyzzy" {
			t.Errorf("%s: no way out of %s", line, got)
		}
	}
	if s := e.Settings(); s.Device+s.Trace != "" || s.Force != nil || s.Scale != 0 || len(e.Sessions.(*shelf).objects) != 3 {
		t.Errorf("wrong lines have set %+v", s)
	}
}

// TestSettingsReachTheFile checks that what is set is what amp reads, and that forgetting it leaves nothing.
func TestSettingsReachTheFile(t *testing.T) {
	e := &Engine{File: filepath.Join(t.TempDir(), "d.json"), Devices: func() []Device { return []Device{{Name: "cuda:0"}} }}
	if err := e.Reset(); err != nil {
		t.Fatal(err)
	}
	if _, err := ask(t, e, "%amp device cuda:0", "%amp trace health every 7", "%amp force gelu=fp32 softmax=promote", "%amp scale 0.5", "%amp scale interval 9 min 2^-3"); err != nil {
		t.Fatal(err)
	}
	d, err := amp.ReadDefaults(e.File)
	if err != nil {
		t.Fatal(err)
	}
	want := amp.Defaults{Source: "%amp", Device: "cuda:0", Trace: "health", Every: 7,
		Force: map[string]string{"gelu": "fp32", "softmax": "promote"}, Scale: 0.5, Interval: 9, MinScale: 0.125}
	if fmt.Sprint(d) != fmt.Sprint(want) {
		t.Errorf("%+v, want %+v", d, want)
	}
	if _, err := ask(t, e, "%amp device default", "%amp trace default", "%amp force clear softmax", "%amp force clear", "%amp scale default"); err != nil {
		t.Fatal(err)
	}
	if d, err = amp.ReadDefaults(e.File); err != nil || fmt.Sprint(d) != fmt.Sprint(amp.Defaults{Source: "%amp"}) {
		t.Errorf("%+v, %v", d, err)
	}
	e.File = filepath.Join(t.TempDir(), "no", "such", "folder")
	if _, err := ask(t, e, "%amp trace off"); err == nil || e.Settings().Trace != "" {
		t.Errorf("settings that cannot be written: %v, %+v", err, e.Settings())
	}
}

// TestPolicyKnowsEveryOp asks about every row of the table, forced and not: each has its class, its reason and an outcome that amp
// gives too.
func TestPolicyKnowsEveryOp(t *testing.T) {
	e := &Engine{}
	for o := range amp.Ops() {
		a, err := ask(t, e, "%amp policy "+o.Name)
		if err != nil {
			t.Fatal(err)
		}
		text := strings.Join(strings.Fields(a.Text()), " ")
		for _, want := range []string{"Class " + o.Class.String() + ": ", capital(strings.Join(strings.Fields(plain(o.Why)), " "))} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: no %q in\n%s", o.Name, want, a.Text())
			}
		}
		table := a.Parts[len(a.Parts)-1].Table
		if len(table.Rows) < 4 || len(table.Rows[0]) != 4 {
			t.Errorf("%s: %d rows", o.Name, len(table.Rows))
		}
	}
	a, _ := ask(t, e, "%amp force exp=lower", "%amp policy")
	if f := a.Figure; f == nil || f.Kind != widgets.KindPolicy || len(f.Policy.Forced) != 1 || !strings.Contains(a.Text(), "exp is forced: fp32 → lower") || !strings.Contains(a.Text(), "%amp policy OP") {
		t.Errorf("the op table: %s", a.Text())
	}
	a, _ = ask(t, e, "%amp policy exp")
	if cell := a.Parts[len(a.Parts)-1].Table.Rows[0][1]; cell.DType != amp.Float16 || !strings.Contains(a.Text(), "%amp force makes it lower") {
		t.Errorf("exp forced: %+v\n%s", cell, a.Text())
	}
}

// TestOpsSearch checks names, patterns, classes and descriptions.
func TestOpsSearch(t *testing.T) {
	for pattern, want := range map[string]string{"conv2": "conv2d", "*_loss": "mse_loss", "promote": "addcdiv", "log*max": "log_softmax", "SoftMax": "softmax", "cosine": "cosine_similarity", "windows": "conv1d"} {
		a, err := ask(t, &Engine{}, "%amp ops "+pattern)
		if err != nil || !strings.Contains(a.Text(), want) {
			t.Errorf("%s: no %s: %v\n%s", pattern, want, err, a.Text())
		}
	}
	a, _ := ask(t, &Engine{}, "%amp ops *_loss")
	if strings.Contains(a.Text(), "softmax ") || strings.Contains(a.Text(), "nll_loss2d") {
		t.Errorf("*_loss found more:\n%s", a.Text())
	}
	if a, _ = ask(t, &Engine{}, "%amp ops"); !strings.Contains(a.Text(), "more: %amp ops PATTERN narrows it down") {
		t.Error("all ops at once")
	}
}

// TestSession checks what reaches the store.
func TestSession(t *testing.T) {
	s := newShelf()
	e := &Engine{Sessions: s}
	if a, err := ask(t, e, "%amp session sizes"); err != nil || a.Parts[0].Table.Rows[0][0].Text != "`emb`" || a.Beside != "3 objects, 3.23 MB" {
		t.Errorf("%v %+v", err, a)
	}
	if a, err := ask(t, e, `%amp session save net "my net.safetensors"`); err != nil || s.log[0] != "save net my net.safetensors" || a.Title == "" {
		t.Errorf("%v %v", err, s.log)
	}
	if _, err := ask(t, e, "%amp session load other f"); err == nil || err.Error() != "the file is of another model" {
		t.Errorf("%v", err)
	}
	if _, err := ask(t, e, "%amp session drop emb net"); err != nil || len(s.objects) != 1 {
		t.Errorf("%v %v", err, s.objects)
	}
	if a, err := ask(t, e, "%amp session drop *"); err != nil || len(s.objects) != 0 || !strings.Contains(a.Text(), "Nothing lives between cells") {
		t.Errorf("%v\n%s", err, a.Text())
	}
	if _, err := ask(t, &Engine{}, "%amp session"); err == nil {
		t.Error("no store, no error")
	}
}

// TestDoctor counts what is wrong.
func TestDoctor(t *testing.T) {
	for _, c := range []struct {
		checks []Check
		want   string
	}{
		{[]Check{{Name: "Go", Status: "ok", Version: "1.26"}}, "all is well"},
		{[]Check{{Name: "Go", Status: "ok"}, {Name: "gopls", Status: "warn", Detail: "old", Fix: "install"}}, "cells run; 1 part to look at"},
		{[]Check{{Name: "Go", Status: "bad", Detail: "gone", Fix: "install <it>"}}, "1 part missing or broken"},
	} {
		a, err := ask(t, &Engine{Doctor: func(context.Context) ([]Check, error) { return c.checks, nil }}, "%amp doctor")
		if err != nil || !strings.Contains(a.Text(), c.want) {
			t.Errorf("%v\n%s", err, a.Text())
		}
		if strings.Contains(a.HTML(), "<it>") {
			t.Error("HTML is not escaped")
		}
	}
}

// TestCompleteAndInspect: what is offered is accepted, and every command explains itself.
func TestCompleteAndInspect(t *testing.T) {
	e := &Engine{Sessions: newShelf()}
	if _, err := ask(t, e, "%amp force gelu=fp32"); err != nil {
		t.Fatal(err)
	}
	for typed, want := range map[string]string{
		"%":                              "%amp %%amp %% %args",
		"%%":                             "%%amp %%",
		"%amp ":                          "help status device policy force trace ops scale session doctor version",
		"%amp s":                         "status scale session",
		"%amp help %%":                   "%%amp",
		"%amp policy a b line":           "linear",
		"%amp policy atten":              "scaled_dot_product_attention",
		"%amp force ":                    "abs=",
		"%amp force clear ":              "gelu",
		"%amp force exp=fp":              "exp=fp32 exp=fp32_output",
		"%amp trace h":                   "health",
		"%amp trace off ":                "",
		"%amp scale 8 ":                  "interval min",
		"%amp scale 8 min ":              "",
		"%amp session drop net ":         "scaler emb",
		"%amp session save ":             "net scaler emb",
		"%amp session save net ":         "",
		"%amp nonsense ":                 "",
		"%amp trace \\\n hea":            "health",
		"%%amp float16 --":               "--trace --every --show --fp8 --fp4",
		"%%amp float16 --show=sc":        "--show=scale",
		"%%amp --show scale,dec":         "scale,decisions",
		"%%amp bf16 --fp8 ":              "tensor row block",
		"%%amp bf16 --fp4 ":              "nv mx",
		"%%amp off --trace off --every ": "",
		"//gonb:%amp ver":                "version",
	} {
		c, ok := e.Complete(typed, len([]rune(typed)))
		var got []string
		for _, x := range c.Choices {
			got = append(got, x.Text)
		}
		if !ok || !strings.HasPrefix(strings.Join(got, " "), want) || want == "" && len(got) > 0 {
			t.Errorf("%q: %v %v", typed, ok, got)
		}
	}
	for _, code := range []string{"fmt.Pr", "%cd /t", "x := 1 %amp", "%%bash\n%amp ", "%amp session save \"my "} {
		if c, ok := e.Complete(code, len([]rune(code))); ok {
			t.Errorf("%q: completed to %v", code, c.Choices)
		}
	}
	for _, c := range commands {
		if a, ok := e.Inspect("%amp "+c.name, 7); !ok || !strings.Contains(a.Text(), c.short) {
			t.Errorf("%s: %v", c.name, a)
		}
		for _, example := range c.examples {
			parsed, err := Parse(example)
			if err != nil || len(parsed.Lines) != 1 {
				t.Errorf("the example %s: %v", example, err)
			}
		}
	}
}

// TestStatusColors: marks are graphics, which WCAG 2.2 (1.4.11) wants at a contrast of 3 to what they stand on, light or dark.
func TestStatusColors(t *testing.T) {
	luminance := func(color string) float64 {
		var rgb [3]uint8
		if _, err := fmt.Sscanf(color, "#%02x%02x%02x", &rgb[0], &rgb[1], &rgb[2]); err != nil {
			t.Fatalf("%s: %v", color, err)
		}
		sum := 0.0
		for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
			c := float64(rgb[i]) / 255
			if c <= 0.04045 {
				c /= 12.92
			} else {
				c = math.Pow((c+0.055)/1.055, 2.4)
			}
			sum += weight * c
		}
		return sum
	}
	for status, color := range statusColors {
		for _, ground := range []string{"#ffffff", "#212121", "#111111"} {
			a, b := luminance(color), luminance(ground)
			if ratio := (max(a, b) + 0.05) / (min(a, b) + 0.05); ratio < 3 {
				t.Errorf("%s on %s: a contrast of %.2f", status, ground, ratio)
			}
		}
	}
}

// TestUnknownCommandListsEachOnce: what is offered in the place of a command that is none is offered once.
func TestUnknownCommandListsEachOnce(t *testing.T) {
	_, err := (&Engine{}).run(t.Context(), []Word{{Text: "foo"}})
	var e *Error
	if !errors.As(err, &e) || strings.Count(e.Fix, "help") != 1 {
		t.Errorf("%v: want help in it once", err)
	}
}
