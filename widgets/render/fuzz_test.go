package render

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/halftone-ml/halftone/internal/stretch"
	"github.com/halftone-ml/halftone/widgets"
)

// broken are figures whose numbers contradict each other.
var broken = []string{
	`{"schema":"halftone.figure/1","kind":"scale_history","data":{"enabled":true,"points":[[5,1],[-9,"NaN"],[9000000000,1e300]],"skips":[{"first":-3,"last":9000000000,"count":-1}],"settled":99}}`,
	`{"schema":"halftone.figure/1","kind":"compare","data":{"runs":[{"loss":[1,2],"at":[-5,1000000000000],"steps":-4}]}}`,
	`{"schema":"halftone.figure/1","kind":"decisions","data":{"steps":-1,"sites":[{"rule":-4,"of":7,"casts":[{"count":-1,"hits":9}],"compute":"bool"}]}}`,
	`{"schema":"halftone.figure/1","kind":"policy","data":{"lists":"cpu","classes":[{"class":"lower","ops":1}],"ops":[{"name":"matmul","cpu":"lower"}]}}`,
	`{"schema":"halftone.figure/1","kind":"rounding","data":{"exact":0,"error":1e308,"spread":-1,"halves":["float16","int64"],"if":[{"dtype":"float16","spread":1e308,"over":-1}],"rows":[{"op":"exp","own":1e308,"size":1e-308,"total":"NaN","share":"-Inf","if":[{"spread":5e-324},{"dtype":"bool"}]},{}]}}`,
	`{"schema":"halftone.figure/1","kind":"rounding","data":{"exact":1e-300,"if":[{"dtype":"bfloat16","spread":1e300}],"rows":[{"if":[{"dtype":"bfloat16","spread":1e-300,"lost":7}]},{"if":[{"dtype":"bfloat16","spread":1e300}]}]}}`,
}

// drawable draws the faces that text decides on, and fails on a panic or on one that takes long.
func drawable(t *testing.T, raw []byte) {
	t.Helper()
	f, err := widgets.Parse(raw)
	if err != nil {
		return
	}
	start := time.Now()
	page, err := htmlFace(f, "<svg/>")
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(page, "<script"); n > 1 {
		t.Fatalf("%d scripts", n)
	}
	d, ok := chart(f, 20)
	if !ok {
		t.Fatal("no drawing")
	}
	if _, err := drawSVG(d, f.Alt); err != nil {
		t.Fatal(err)
	}
	if f.Text() == "" {
		t.Fatal("no text")
	}
	if took := time.Since(start); stretch.Over(took, 20*time.Second) {
		t.Fatalf("took %v", took)
	}
}

// TestBrokenNumbers puts wrong numbers everywhere, always the same ones.
func TestBrokenNumbers(t *testing.T) {
	seeds := append([]string(nil), broken...)
	for _, name := range []string{"calibrating", "decisions_none", "compare", "collapsing", "rounding", "rounding_fp32"} {
		b, err := json.Marshal(figures()[name])
		if err != nil {
			t.Fatal(err)
		}
		seeds = append(seeds, string(b))
	}
	numbers := regexp.MustCompile(`-?\d+(\.\d+)?(e[+-]?\d+)?`)
	values := []string{"0", "-1", "1", "1e300", "-1e300", "9223372036854775807", "-9223372036854775808", "1e-300", `"NaN"`, `"+Inf"`, "65536", "3", "1000000000", "2", "7"}
	r := rand.New(rand.NewPCG(1, 2))
	for range 800 {
		s := seeds[r.IntN(len(seeds))]
		for range 1 + r.IntN(6) {
			at := numbers.FindAllStringIndex(s, -1)
			if len(at) == 0 {
				break
			}
			k := at[r.IntN(len(at))]
			s = s[:k[0]] + values[r.IntN(len(values))] + s[k[1]:]
		}
		t.Run("", func(t *testing.T) {
			defer func() {
				if p := recover(); p != nil {
					t.Fatalf("%v\n%s", p, s)
				}
			}()
			drawable(t, []byte(s))
		})
	}
}

// TestMissingMembers draws each figure without each of its members in turn, in every element of a list: figures come from other
// programs and older versions, too.
func TestMissingMembers(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range figures() {
		b, err := json.Marshal(f)
		if err != nil {
			t.Fatal(err)
		}
		var whole any
		if err := json.Unmarshal(b, &whole); err != nil {
			t.Fatal(err)
		}
		for _, path := range members(whole, "") {
			if name := string(f.Kind) + path; !seen[name] {
				seen[name] = true
				t.Run(name, func(t *testing.T) {
					raw, err := json.Marshal(without(whole, strings.Split(path, "/")[1:]))
					if err != nil {
						t.Fatal(err)
					}
					drawable(t, raw)
				})
			}
		}
	}
	if len(seen) < 200 {
		t.Errorf("%d members", len(seen))
	}
}

// members lists the paths of a value's members; a "*" stands for each element of a list.
func members(v any, at string) (out []string) {
	switch v := v.(type) {
	case map[string]any:
		for k, inner := range v {
			out = append(append(out, at+"/"+k), members(inner, at+"/"+k)...)
		}
	case []any:
		for _, inner := range v {
			out = append(out, members(inner, at+"/*")...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// without is v without the member at the path, a copy.
func without(v any, path []string) any {
	switch v := v.(type) {
	case map[string]any:
		v = maps.Clone(v)
		if inner, there := v[path[0]]; len(path) == 1 {
			delete(v, path[0])
		} else if there {
			v[path[0]] = without(inner, path[1:])
		}
		return v
	case []any:
		v = slices.Clone(v)
		for i := range v {
			v[i] = without(v[i], path[1:])
		}
		return v
	}
	return v
}

// FuzzDraw: whatever a cell sends, the kernel lives. Run it with -fuzzminimizetime=1x, drawing is slow.
func FuzzDraw(f *testing.F) {
	for _, fig := range figures() {
		b, err := json.Marshal(fig)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	for _, s := range broken {
		f.Add([]byte(s))
	}
	f.Fuzz(drawable)
}
