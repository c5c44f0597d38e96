package kernel

import (
	"fmt"
	"math"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/widgets"
)

// A whatIfAsk asks what would become of gradients at another loss scale and in another format: of all of them, and of each module's.
type whatIfAsk struct {
	Scale  float64 `json:"scale"`
	Format string  `json:"format"` // "float16", "bfloat16", "e4m3", "e5m2"
	magnitudes
	Modules []magnitudes `json:"modules"`
}

// magnitudes are numbers by power of two, as figures store them.
type magnitudes struct {
	Module string  `json:"module"` // whose they are; "" for those of no module
	Low    int     `json:"low"`    // exponent of Counts[0]
	Counts []int   `json:"counts"` // finite numbers that are not zero with 2^(Low+i) ≤ |g| < 2^(Low+i+1)
	Amax   float64 `json:"amax"`   // largest of them; 0: not known
}

const (
	maxBinades = 400 // of one histogram
	maxWhatIf  = 64  // modules
)

// whatIfFormats by the names that figures use.
var whatIfFormats = map[string]amp.Format{"float16": amp.FormatFP16, "bfloat16": amp.FormatBF16, "e4m3": amp.FormatE4M3, "e5m2": amp.FormatE5M2}

// whatIf counts what would become of stored magnitudes at another loss scale and in another format. Modules are answered in the order in
// which they were asked about; each has the largest loss scale that keeps its own largest gradient with one doubling to spare.
func whatIf(a whatIfAsk) (map[string]any, error) {
	f, ok := whatIfFormats[a.Format]
	power, exp := math.Frexp(a.Scale)
	switch {
	case !ok:
		return nil, fmt.Errorf("%.40q is no format that can be tried: float16, bfloat16, e4m3 and e5m2 can", a.Format)
	case power != 0.5 || math.Abs(float64(exp)) > 1000:
		return nil, fmt.Errorf("a loss scale to try is a power of two, %g is none", a.Scale)
	case len(a.Modules) > maxWhatIf:
		return nil, fmt.Errorf("%d modules are more than a figure has: at most %d are counted", len(a.Modules), maxWhatIf)
	}
	all, err := a.fate(f, a.Scale)
	if err != nil {
		return nil, err
	}
	out := all.answer()
	out["sentence"] = fmt.Sprintf("Counted again in the kernel, at 2^%d in %s: of %s numbers %s are lost to zero, %s have fewer digits, %s overflow.",
		exp-1, a.Format, widgets.Count(all.all()), widgets.Count(all.Zero), widgets.Count(all.Subnormal), widgets.Count(all.Overflow))
	if len(a.Modules) == 0 {
		return out, nil
	}
	modules, worst, least := []map[string]any{}, 0, 0.0
	var worstFate whatIfFate
	for i, m := range a.Modules {
		x, err := m.fate(f, a.Scale)
		if err != nil {
			return nil, fmt.Errorf("module %.80q: %w", m.Module, err)
		}
		answer := x.answer()
		if m.Amax > 0 {
			best := amp.Exponents{Amax: m.Amax}.SuggestScale(f, 1)
			answer["best"] = best
			if least == 0 || best < least {
				least = best
			}
		}
		if modules = append(modules, answer); x.lost() > worstFate.lost() {
			worst, worstFate = i, x
		}
	}
	out["modules"] = modules
	out["sentence"] = out["sentence"].(string) + whatIfWords(a.Modules[worst].Module, worstFate, least)
	return out, nil
}

// whatIfWords name the module that is worst off, and the scale that is safe for all.
func whatIfWords(module string, x whatIfFate, least float64) string {
	s := " No module loses any."
	if x.lost() > 0 {
		if module == "" {
			module = "the top level"
		}
		s = fmt.Sprintf(" Worst off is %.80s: %s of its gradients are lost, %s overflow.", module, widgets.Percent(x.Zero, x.all()), widgets.Percent(x.Overflow, x.all()))
	}
	if least > 0 {
		s += fmt.Sprintf(" The largest scale that is safe for every module is %s.", widgets.ScaleText(widgets.Number(least)))
	}
	return s
}

// A whatIfFate is what becomes of some magnitudes.
type whatIfFate struct{ amp.Fate }

func (x whatIfFate) all() int { return x.Zero + x.Subnormal + x.Normal + x.Overflow }

// lost is the share that is of no use.
func (x whatIfFate) lost() float64 {
	return float64(x.Zero+x.Overflow) / float64(max(x.all(), 1))
}

func (x whatIfFate) answer() map[string]any {
	return map[string]any{"zero": x.Zero, "subnormal": x.Subnormal, "normal": x.Normal, "overflow": x.Overflow}
}

// fate counts magnitudes in a format, or says what is wrong with them.
func (m *magnitudes) fate(f amp.Format, scale float64) (whatIfFate, error) {
	if len(m.Counts) > maxBinades || m.Low < -1200 || m.Low > 1200 {
		return whatIfFate{}, fmt.Errorf("%d magnitudes from 2^%d on are more than a figure has", len(m.Counts), m.Low)
	}
	for _, n := range m.Counts {
		if n < 0 || n > 1<<50 {
			return whatIfFate{}, fmt.Errorf("%d is no count of numbers", n)
		}
	}
	if !(m.Amax >= 0) {
		return whatIfFate{}, fmt.Errorf("%g is no largest magnitude", m.Amax)
	}
	return whatIfFate{amp.Exponents{Low: m.Low, Counts: m.Counts}.Fate(f, scale)}, nil
}
