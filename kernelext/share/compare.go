package share

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"sort"
	"strconv"

	"github.com/halftone-ml/halftone/widgets"
)

// A Difference is one place where a figure is not what was expected.
type Difference struct {
	Path string `json:"path"` // e.g. "data.runs[1].final"
	Want string `json:"want"`
	Got  string `json:"got"`
}

func (d Difference) String() string {
	return fmt.Sprintf("%s is %s, expected %s", d.Path, d.Got, d.Want)
}

// A Tolerance says how far numbers may lie apart.
type Tolerance struct {
	Relative float64 // of the larger of two numbers, or of the largest of their list
	Share    float64 // between numbers that are themselves relative (see ratios)
}

// Loose is for results of other kernels: sums are taken in another order, so a last bit differs, and training carries it on.
var Loose = Tolerance{Relative: 0.02, Share: 0.02}

// ratios are members of figures that are relative already: differences of losses, and noise.
var ratios = []string{"diff", "end", "behind_end", "noise", "relative", "worst"}

// free members are prose about numbers that are compared themselves, or follow from the noise of rounding and say nothing where
// bits differ.
var free = []string{"alt", "answer", "worst_at", "ops", "ops_more", "ops_note"}

// alike are words for results between which the noise of rounding decides.
var alike = []string{widgets.RunSame, widgets.RunClose}

// Compare lists where a figure differs from what was expected, at most limit places. A nil tolerance allows no difference at all.
func Compare(want, got *widgets.Figure, within *Tolerance, limit int) ([]Difference, error) {
	return compare(want, got, within, locator{}, limit)
}

// compare is Compare for figures of cells that may have been run more than once.
func compare(want, got *widgets.Figure, within *Tolerance, where locator, limit int) ([]Difference, error) {
	a, err := tree(want)
	if err != nil {
		return nil, err
	}
	b, err := tree(got)
	if err != nil {
		return nil, err
	}
	c := comparer{within: within, where: where, limit: limit}
	c.values("", "", a, b, 0)
	return c.found, nil
}

// tree is a figure's JSON, numbers kept as they are written.
func tree(f *widgets.Figure) (any, error) {
	b, err := json.Marshal(f.Stable())
	if err != nil {
		return nil, err
	}
	var v any
	return v, json.Unmarshal(b, &v)
}

type comparer struct {
	within *Tolerance
	where  locator
	limit  int
	found  []Difference
}

func (c *comparer) differ(path string, want, got any) {
	if a, ok := want.(string); ok {
		if b, ok := got.(string); ok {
			want, got = parting(a, b)
		}
	}
	if len(c.found) < c.limit {
		c.found = append(c.found, Difference{path, brief(want), brief(got)})
	}
}

// parting cuts what two texts begin with alike, so that their difference is not beyond the few words that are shown.
func parting(a, b string) (string, string) {
	x, y := []rune(a), []rune(b)
	n := 0
	for n < len(x) && n < len(y) && x[n] == y[n] {
		n++
	}
	if n -= 24; n <= 0 {
		return a, b
	}
	return "…" + string(x[n:]), "…" + string(y[n:])
}

// brief is a value as a few words.
func brief(v any) string {
	if v == nil {
		return "missing"
	}
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	if r := []rune(string(b)); len(r) > 80 {
		return string(r[:79]) + "…"
	}
	return string(b)
}

// values compares two values; name is that of the member they belong to, and scale the largest number beside them.
func (c *comparer) values(path, name string, want, got any, scale float64) {
	if c.within != nil && slices.Contains(free, name) {
		return
	}
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			c.differ(path, want, got)
			return
		}
		for _, key := range keys(w, g) {
			c.values(join(path, key), key, w[key], g[key], 0)
		}
	case []any:
		g, ok := got.([]any)
		if !ok || len(w) != len(g) {
			c.differ(path, want, got)
			return
		}
		scale = largest(w)
		for i := range w {
			c.values(fmt.Sprintf("%s[%d]", path, i), name, w[i], g[i], scale)
		}
	case float64:
		if g, ok := got.(float64); !ok || !c.near(name, w, g, scale) {
			c.differ(path, want, got)
		}
	case string:
		g, ok := got.(string)
		if !ok {
			c.differ(path, want, got)
			return
		}
		// A place is the same or another one: no tolerance of numbers is for its line.
		if w, g, agree := c.where.places(w, g); !agree || w != g && !c.sameText(w, g) {
			c.differ(path, w, g)
		}
	default:
		if want != got {
			c.differ(path, want, got)
		}
	}
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

func keys(a, b map[string]any) []string {
	var all []string
	for k := range a {
		all = append(all, k)
	}
	for k := range b {
		if _, both := a[k]; !both {
			all = append(all, k)
		}
	}
	sort.Strings(all)
	return all
}

// largest is the largest magnitude of a list of numbers.
func largest(list []any) float64 {
	most := 0.0
	for _, v := range list {
		if x, ok := v.(float64); ok {
			most = max(most, math.Abs(x))
		}
	}
	return most
}

func (c *comparer) near(name string, a, b, scale float64) bool {
	if a == b {
		return true
	}
	t := c.within
	if t == nil {
		return false
	}
	apart := math.Abs(a - b)
	if slices.Contains(ratios, name) {
		return apart <= t.Share
	}
	return apart <= t.Relative*max(math.Abs(a), math.Abs(b), scale)
}

// figure finds the numbers of a text, with signs, separators of thousands and exponents.
var figure = regexp.MustCompile(`[-+]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?`)

// sameText compares texts that tell numbers: what stands around these must be the same.
func (c *comparer) sameText(a, b string) bool {
	if c.within != nil && slices.Contains(alike, a) && slices.Contains(alike, b) {
		return true
	}
	if c.within == nil || figure.ReplaceAllString(a, "#") != figure.ReplaceAllString(b, "#") {
		return false
	}
	as, bs := figure.FindAllString(a, -1), figure.FindAllString(b, -1)
	for i := range as {
		x, err1 := parse(as[i])
		y, err2 := parse(bs[i])
		// A text rounds, so one more unit of its last digit may lie between the two.
		if err1 != nil || err2 != nil || !c.near("", x, y, 0) && math.Abs(x-y) > c.within.Share+unit(as[i]) {
			return false
		}
	}
	return true
}

func parse(s string) (float64, error) {
	return strconv.ParseFloat(regexp.MustCompile(`,`).ReplaceAllString(s, ""), 64)
}

// unit is one in the last decimal of a number as it is written.
func unit(s string) float64 {
	if i := slices.Index([]byte(s), '.'); i >= 0 {
		return math.Pow(10, -float64(len(s)-i-1))
	}
	return 1
}
