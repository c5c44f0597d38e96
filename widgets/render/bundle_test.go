package render

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/widgets"
	"github.com/halftone-ml/halftone/widgets/internal/sample"
)

// hostile are figures made from names as bad as a program can give.
func makeHostile() map[string]*widgets.Figure {
	evil := `</script><script>alert(1)</script><img src=x onerror=alert(2)>"' &amp; ` + "\x00\x1b[31m\u202e\u2028" + `{{.}} %s`
	long := strings.Repeat("parameter_", 100_000)
	trace := sample.MLP(2)
	for i := range trace.Events {
		e := &trace.Events[i]
		e.Module, e.Op, e.Rule, e.File = fmt.Sprint(evil, i%40, long), evil, evil+long, evil
		e.Cell = 0
		e.Line = 3
		e.Autocast = amp.DType(i)
		if i%50 == 0 {
			e.Compute, e.Out.DType = amp.DType(99), amp.DType(101)
		}
		if e.Cast != nil {
			e.Cast.Name, e.Cast.By = evil+long, evil
		}
	}
	trace.Device, trace.Note = evil+long, evil+long
	h := sample.Steady()
	for i := range h.Steps {
		if !h.Steps[i].Applied {
			h.Steps[i].Culprit, h.Steps[i].Value, h.Steps[i].Warning = evil+long, evil, evil
		}
	}
	var runs []widgets.Run
	for range 30 {
		runs = append(runs, widgets.Run{Name: evil + long, DType: amp.DType(200), Loss: []float64{math.NaN(), math.Inf(1), 0, -1, 1e300, math.Inf(-1), 1e-320}})
	}
	gradients := sample.Gradients(2, -20, fixed(1024), evil+long, evil)
	return map[string]*widgets.Figure{
		"exponents": widgets.Exponents(gradients, amp.ScaleHistory{Enabled: true, Scale: 1024, Nominal: 7, Steps: []amp.ScaleStep{{Scale: math.NaN()}}}),
		"decisions": widgets.Decisions(trace), "scale": widgets.ScaleHistory(h), "runs": widgets.Compare(runs...),
		"policy": hostilePolicy(evil), "ops": hostileOps(evil), "roundings": widgets.Rounding(hostileRounding(evil, long)),
	}
}

// hostileRounding is a trace with bad names and bad numbers, in more places than a figure has rows.
func hostileRounding(evil, long string) *amp.RoundingTrace {
	t := sample.RoundingDeep(9, func(i int) string { return fmt.Sprint(evil, i, long) })
	t.Device, t.Loss, t.Step, t.DType = evil+long, math.NaN(), -7, amp.DType(99)
	for i := range t.Events {
		e := &t.Events[i]
		e.Op, e.For, e.File, e.Cell, e.Line = evil, evil, evil, 0, 3
		switch i % 5 {
		case 0:
			e.Own, e.Total, e.Share = math.Inf(1), math.NaN(), math.Inf(-1)
		case 1:
			e.Compute, e.N, e.Bad = amp.DType(77), -5, math.MaxInt
		case 2:
			e.Err, e.Size = evil, 0
		case 3:
			e.If = append(e.If, amp.RoundingIf{DType: amp.DType(88), Spread: math.NaN(), Lost: -1, Over: math.MaxInt}, amp.RoundingIf{}, amp.RoundingIf{DType: amp.Bool})
		}
	}
	return t
}

// hostilePolicy is an op table with bad names, as a file may bring it.
func hostilePolicy(evil string) *widgets.Figure {
	f := widgets.Policy()
	d := f.Policy
	d.Ops, d.Sentence, f.Title = d.Ops[:12], evil, evil
	for i := range d.Ops {
		d.Ops[i].Name, d.Ops[i].Class, d.Ops[i].Why = fmt.Sprint(evil, i), d.Classes[0].Class, i-3
	}
	for i := range d.Whys {
		d.Whys[i] = evil
	}
	d.Classes[0].Means, d.Classes[1].Class = evil, evil
	d.Forced = []widgets.PolicyForce{{Op: evil, From: evil, To: evil}}
	return readBack(f)
}

// hostileOps is a comparison whose ops have bad names.
func hostileOps(evil string) *widgets.Figure {
	f := widgets.Compare(tracedRuns()...)
	for i := range f.Runs.Runs {
		r := &f.Runs.Runs[i]
		r.Name, r.Verdict, r.OpsNote = evil, evil, evil
		for k := range r.Ops {
			r.Ops[k].Module, r.Ops[k].Op, r.Ops[k].Phase, r.Ops[k].Error = evil, evil, evil, widgets.Number(math.NaN())
		}
	}
	f.Runs.Answer = evil
	return readBack(f)
}

// readBack is a figure as Parse makes it safe.
func readBack(f *widgets.Figure) *widgets.Figure {
	b, err := json.Marshal(f)
	if err != nil {
		panic(err)
	}
	g, err := widgets.Parse(b)
	if err != nil {
		panic(err)
	}
	return g
}

var hostile = sync.OnceValue(makeHostile)

// extreme are figures at the ends of what data can be.
func extreme() map[string]*widgets.Figure {
	noisy := sample.Scaler{Steps: 100_000, Init: 65536, Interval: 7, Overflow: func(i int, scale float64) (string, string) {
		if i%11 == 0 || scale > 1<<18 {
			return fmt.Sprintf("layer%d.weight", i%500), "+Inf"
		}
		return "", ""
	}}.History()
	always := sample.Scaler{Steps: 100_000, Init: 65536, Interval: 2000, Overflow: func(int, float64) (string, string) { return "w", "NaN" }}.History()
	deep := sample.Large(400)
	for i := range deep.Events { // distinct names that do not fold
		deep.Events[i].Module = fmt.Sprintf("%s/part%cx%d_%s", deep.Events[i].Module, 'a'+i%26, i/26, strings.Repeat("long", 20))
	}
	healthy := sample.Healthy(20)
	for i := range healthy.Events { // as many rows with magnitudes as there can be
		healthy.Events[i].Module = fmt.Sprintf("net/%s%d_of_many", healthy.Events[i].Module, i%333)
	}
	infinite := amp.ScaleHistory{Enabled: true, InitScale: math.Inf(1), Scale: math.NaN(), Nominal: 2, Skipped: 2, Steps: []amp.ScaleStep{
		{Step: 0, Scale: math.Inf(1), Next: math.NaN()}, {Step: 1, Scale: math.NaN(), Next: 0}}}
	return map[string]*widgets.Figure{
		"noisy": widgets.ScaleHistory(noisy), "always": widgets.ScaleHistory(always), "infinite": widgets.ScaleHistory(infinite),
		"wide":      widgets.Exponents(wide(), amp.ScaleHistory{Enabled: true, Scale: 1e30}),
		"one power": widgets.Exponents(sample.Gradients(1, -300, fixed(1), "a")),
		"deep":      widgets.Decisions(deep),
		"healthy":   widgets.Decisions(healthy),
		"empty":     widgets.Decisions(&amp.Trace{}),
		"no steps":  widgets.ScaleHistory(amp.ScaleHistory{Enabled: true, InitScale: 65536, Scale: 65536}),
		"no runs":   widgets.Compare(),
		"no losses": widgets.Compare(widgets.Run{Name: "a"}),
		"one loss":  widgets.Compare(widgets.Run{Name: "a", Loss: []float64{1}}),
		"constant":  widgets.Compare(widgets.Run{Name: "a", Loss: make([]float64, 100_000)}),
		"many":      widgets.Compare(manyRuns()...),
		"diverged":  widgets.Compare(widgets.Run{Name: "a", Loss: []float64{1, 2}}, widgets.Run{Name: "b", Loss: []float64{1, math.NaN(), math.NaN()}}),
		"sawtooth":  widgets.ScaleHistory(sawtooth(300)),
		"sawteeth":  widgets.ScaleHistory(sawtooth(30_000)),
		"noise":     widgets.Compare(noisyRuns()...),
		"live":      noisyLive(),
		"roundings": widgets.Rounding(sample.RoundingDeep(9, func(i int) string { return fmt.Sprint("stages.", i, strings.Repeat("/block", 20)) })),
		"long":      widgets.Compare(widgets.Run{Name: "a", Loss: sample.Loss(100_000, 5, .1, 1e-4, .3)}, widgets.Run{Name: "b", Loss: sample.Loss(99_000, 5, .1, 1e-4, .5)}),
	}
}

// wide are gradients of every magnitude that float64 has, in many modules.
func wide() *amp.Trace {
	t := &amp.Trace{Schema: amp.TraceSchema, Level: "health", Steps: 1}
	for m := range 200 {
		h := &amp.Exponents{N: 3000, Low: -1074, Counts: make([]int, 2098), Amin: math.SmallestNonzeroFloat64, Amax: math.MaxFloat64, Infs: 3, NaNs: 9}
		for i := range h.Counts {
			h.Counts[i] = 1 + i*m%7
		}
		t.Events = append(t.Events, amp.Event{Phase: amp.PhaseBackward, Op: "mul", Module: fmt.Sprintf("block/%d/%s", m, strings.Repeat("x", 300)), Out: amp.Arg{DType: amp.Float64}, Health: h, Gradient: true})
	}
	return t
}

// everything is all figures of the tests.
var everything = sync.OnceValue(func() map[string]*widgets.Figure {
	all := makeFigures()
	for prefix, set := range map[string]map[string]*widgets.Figure{"hostile ": hostile(), "extreme ": extreme()} {
		for name, f := range set {
			all[prefix+name] = f
		}
	}
	return all
})

// TestFacesAreWithinTheirBounds: a notebook stores every face of every figure, and people keep notebooks under version control.
func TestFacesAreWithinTheirBounds(t *testing.T) {
	for name, f := range everything() {
		t.Run(name, func(t *testing.T) {
			faces, err := drawn(f)
			if err != nil {
				t.Fatal(err)
			}
			size := func(mime string) int { return len(face(t, f, mime)) }
			img, err := base64.StdEncoding.DecodeString(faces["image/png"].(string))
			if err != nil {
				t.Fatal(err)
			}
			all, err := json.Marshal(faces)
			if err != nil {
				t.Fatal(err)
			}
			for _, b := range []struct {
				what      string
				got, most int
			}{
				{"JSON", size(widgets.MIME), widgets.MaxJSON}, {"SVG", size("image/svg+xml"), MaxSVG}, {"PNG", len(img), MaxPNG},
				{"HTML", size("text/html"), MaxHTML}, {"bundle", len(all), MaxBundle},
			} {
				if b.what == "JSON" && f.Policy != nil {
					b.most = widgets.MaxPolicyJSON
				}
				if b.got == 0 || b.got > b.most {
					t.Errorf("%s has %d bytes, at most %d are allowed", b.what, b.got, b.most)
				}
			}
			if strings.TrimSpace(f.Alt) == "" {
				t.Error("no alt text")
			}
		})
	}
}

// TestHostileNamesStayText: nothing that a program names becomes an element, an attribute or the end of the script.
func TestHostileNamesStayText(t *testing.T) {
	for name, f := range hostile() {
		page := face(t, f, "text/html")
		doc := parse(t, page)
		if n := len(find(doc, "script")); n > 1 {
			t.Errorf("%s: %d script elements", name, n)
		}
		for _, img := range find(doc, "img") {
			if !strings.HasPrefix(attribute(img, "src"), "data:image/") || attribute(img, "onerror") != "" {
				t.Errorf("%s: a name became an image", name)
			}
		}
		if !strings.Contains(words(doc), "<script>alert(1)") {
			t.Errorf("%s: the name is not shown as text", name)
		}
		for _, bad := range []string{"\x00", "\x1b", "\u202e"} {
			if strings.Contains(page, bad) || strings.Contains(f.Text(), bad) {
				t.Errorf("%s: control character %q survived", name, bad)
			}
		}
	}
}

// TestSVG: well-formed, self-contained, with a title, and no fonts inside.
func TestSVG(t *testing.T) {
	for name, f := range everything() {
		svg := face(t, f, "image/svg+xml")
		d := xml.NewDecoder(strings.NewReader(svg))
		for {
			tok, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			e, ok := tok.(xml.StartElement)
			if !ok {
				continue
			}
			switch e.Name.Local {
			case "svg", "title", "g", "path", "text":
			default:
				t.Errorf("%s: element %s", name, e.Name.Local)
			}
			if e.Name.Local == "text" && !slices.ContainsFunc(e.Attr, func(a xml.Attr) bool { return a.Name.Local == "textLength" }) {
				t.Errorf("%s: a text whose width depends on the viewer's fonts: %v", name, e.Attr)
			}
			for _, a := range e.Attr {
				if a.Name.Local == "href" || strings.Contains(a.Value, "url(") {
					t.Errorf("%s: refers to %s", name, a.Value)
				}
			}
		}
		if !strings.Contains(svg, "<title>"+esc(f.Alt)+"</title>") {
			t.Errorf("%s: the title is not the finding", name)
		}
		for _, bad := range []string{"@font-face", "NaN", "Inf "} {
			if strings.Contains(strings.ReplaceAll(svg, esc(f.Alt), ""), bad) && !strings.HasPrefix(name, "extreme") && name != "collapsing" && !strings.HasPrefix(name, "bits") {
				t.Errorf("%s: contains %q", name, bad)
			}
		}
	}
}

// TestPNG: a palette, and twice the size of the SVG.
func TestPNG(t *testing.T) {
	for name, f := range figures() {
		b, err := base64.StdEncoding.DecodeString(face(t, f, "image/png"))
		if err != nil {
			t.Fatal(err)
		}
		img, err := png.Decode(bytes.NewReader(b))
		if err != nil {
			t.Fatal(name, err)
		}
		p, ok := img.(*image.Paletted)
		if !ok || len(p.Palette) > 16 {
			t.Errorf("%s: %T", name, img)
		}
		d, _ := chart(f, 20)
		if img.Bounds().Dx() != 2*int(d.width) || img.Bounds().Dy() != 2*int(d.height) {
			t.Errorf("%s: %v for a drawing of %v × %v", name, img.Bounds(), d.width, d.height)
		}
	}
}

// TestDrawingIsDeterministic: the same figure gives the same bytes, so that notebooks run again do not differ.
func TestDrawingIsDeterministic(t *testing.T) {
	a, b := figures(), makeFigures()
	for name := range a {
		for _, mime := range []string{"text/plain", "text/html", "image/svg+xml", "image/png", widgets.MIME} {
			if face(t, a[name], mime) != face(t, b[name], mime) {
				t.Errorf("%s: %s differs", name, mime)
			}
		}
	}
}

func TestBundleJSON(t *testing.T) {
	for name, f := range everything() {
		want, err := drawn(f)
		if err != nil {
			t.Fatal(err)
		}
		got, err := BundleJSON(want[widgets.MIME].(json.RawMessage))
		if err != nil {
			t.Fatal(name, err)
		}
		for mime, v := range want {
			if fmt.Sprint(v) != fmt.Sprint(got[mime]) {
				t.Errorf("%s: %s differs when drawn from the JSON", name, mime)
			}
		}
	}
	for raw, want := range map[string]string{
		`{`: "unexpected end", `null`: "schema", `{"schema":"halftone.figure/9","kind":"decisions"}`: "update Halftone",
		`{"schema":"halftone.figure/1","kind":"hologram","data":{}}`: "hologram", `{"schema":"halftone.figure/1","kind":"compare"}`: "no data",
		`{"schema":"halftone.figure/1","kind":"compare","data":{"runs":3}}`: "compare", `[]`: "array",
		`"` + strings.Repeat("a", 2<<20) + `"`: "too large",
	} {
		if _, err := BundleJSON([]byte(raw)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: error %v, want %q", raw, err, want)
		}
	}
}

// TestBundleOfNothing: no figure is an error, not a panic.
func TestBundleOfNothing(t *testing.T) {
	for _, f := range []*widgets.Figure{nil, {}, {Kind: widgets.KindDecisions}, {Kind: "x", Decisions: &widgets.DecisionsData{}}} {
		faces, err := Bundle(f)
		if err == nil {
			t.Errorf("%+v: no error", f)
		}
		if s, _ := faces["text/plain"].(string); s == "" {
			t.Errorf("%+v: no text", f)
		}
	}
}
