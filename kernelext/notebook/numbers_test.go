package notebook_test

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/amp"
)

// A figureNumber is a number as a text writes it: its value and half a unit of its last digit.
type figureNumber struct {
	text  string
	value float64
	half  float64
}

// among says whether one of the numbers is what the text has, rounded or cut to as many digits as the text has. Signs are not compared:
// "falls by 3 %" is -3 %.
func (n figureNumber) among(list []figureNumber) bool {
	for _, k := range list {
		if d := math.Abs(math.Abs(k.value) - math.Abs(n.value)); d <= n.half*1.0001 || d == 0 {
			return true
		}
	}
	return false
}

var superscripts = strings.NewReplacer("⁰", "0", "¹", "1", "²", "2", "³", "3", "⁴", "4", "⁵", "5", "⁶", "6", "⁷", "7", "⁸", "8", "⁹", "9", "⁻", "-", "⁺", "")

const digits = `(?:\d{1,3}(?:[,\x{202f}\x{00a0} _]\d{3})+|\d+)(?:\.\d+)?`

// A number stands alone: what follows a letter, a dot or an underscore is part of a name (fp16, e4m3, net/0, v0.11). Groups of three may
// be set apart by commas or spaces.
var numberForm = regexp.MustCompile(`(^|[^\pL\d._/#-])([-−+]?)(` + digits + `)` +
	`(?:(?:\^|e|E)([-−+]?\d+(?:\.\d+)?)|([⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+)|\s?[·×]\s?10(?:([⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+)|\^(-?\d+)))?`)

// numbers finds the numbers in a text: 12, 65 536, 65,504, 0.05, 1.5e-7, 2^-26.0, 2⁻²⁵, 6.1·10⁻⁵; and 1<<16 of code.
func numbers(text string) (list []figureNumber) {
	for _, m := range regexp.MustCompile(`\b1 ?<< ?(\d+)`).FindAllStringSubmatch(text, -1) {
		k, _ := strconv.Atoi(m[1])
		list = append(list, figureNumber{m[0], math.Ldexp(1, k), 0})
	}
	for _, m := range regexp.MustCompile(`Ldexp\((\d+), (-?\d+)\)`).FindAllStringSubmatch(text, -1) {
		f, _ := strconv.ParseFloat(m[1], 64)
		k, _ := strconv.Atoi(m[2])
		list = append(list, figureNumber{m[0], math.Ldexp(f, k), 0})
	}
	for rest := text; ; {
		m := numberForm.FindStringSubmatchIndex(rest)
		if m == nil {
			return list
		}
		part := func(i int) string {
			if m[2*i] < 0 {
				return ""
			}
			return strings.ReplaceAll(rest[m[2*i]:m[2*i+1]], "−", "-")
		}
		written := strings.TrimSpace(rest[m[4]:m[1]])
		mantissa := regexp.MustCompile(`[,\x{202f}\x{00a0} _]`).ReplaceAllString(part(3), "")
		v, _ := strconv.ParseFloat(mantissa, 64)
		half := 0.5
		if _, decimals, ok := strings.Cut(mantissa, "."); ok {
			half = 0.5 * math.Pow(10, -float64(len(decimals)))
		}
		scale, power := 1.0, part(4)
		if power == "" {
			power = superscripts.Replace(part(5))
		}
		switch ten := superscripts.Replace(part(6)) + part(7); {
		case ten != "":
			k, _ := strconv.Atoi(ten)
			scale = math.Pow(10, float64(k))
		case power != "" && strings.ContainsAny(rest[m[6]:m[1]], "eE"):
			k, _ := strconv.ParseFloat(power, 64)
			scale = math.Pow(10, k)
		case power != "": // a power: exact, whatever it is compared with
			k, _ := strconv.ParseFloat(power, 64)
			list = append(list, figureNumber{written, math.Pow(v, k), 0})
			if v == 2 { // "2^-26.0" of an output is -26.0 binades, too
				list[len(list)-1].half = math.Pow(v, k) * 1e-9
			}
			rest = rest[m[1]:]
			continue
		}
		sign := 1.0
		if part(2) == "-" {
			sign = -1
		}
		n := figureNumber{written, sign * v * scale, half * scale}
		if !strings.Contains(mantissa, ".") && scale == 1 {
			n.half = 0 // whole numbers are counts
		}
		list = append(list, n)
		// What ends one number may be what the next one begins behind.
		rest = rest[m[1]:]
	}
}

// constants are the limits of the formats and the defaults of the scaler: what the texts may name without a cell that prints it.
func constants() (list []figureNumber) {
	add := func(v float64) { list = append(list, figureNumber{"", v, 0}) }
	for _, f := range amp.Formats() {
		exponent, mantissa := f.Fields()
		for _, v := range []float64{f.Max(), f.MinNormal(), f.MinSubnormal(), f.MinSubnormal() / 2, f.Epsilon(), f.Epsilon() / 2,
			float64(f.Bits()), float64(exponent), float64(mantissa), float64(mantissa + 1)} {
			add(v)
		}
	}
	scaler := amp.NewGradScaler()
	add(scaler.CurrentScale())
	add(float64(scaler.GrowthInterval()))
	add(100) // percent
	return list
}

// TestNumbers: what numbers finds, and that a number that no cell shows is noticed.
func TestNumbers(t *testing.T) {
	for text, want := range map[string][]float64{
		"65 536 and 65,504; 0.05, −3 % of fp16":        {65536, 65504, 0.05, -3},
		"2⁻²⁵ ≈ 3·10⁻⁸, 2^-26.0 or 1.5e-7":             {math.Ldexp(1, -25), 3e-8, math.Ldexp(1, -26), 1.5e-7},
		"net/0 e4m3 v0.11 [1]:22 is Linear(10, 1)":     {1, 22, 10, 1},
		"InitScale(1<<24), then 2¹⁶ over 3 of 50 runs": {1 << 24, 1 << 16, 3, 50},
		"amp.InitScale(1 << 3) 12.5 %":                 {8, 12.5},
	} {
		var got []float64
		for _, n := range numbers(text) {
			got = append(got, n.value)
		}
		for _, w := range want {
			found := false
			for _, g := range got {
				found = found || math.Abs(g-w) <= 1e-12*math.Abs(w)
			}
			if !found {
				t.Errorf("%q: %v, want %v", text, got, w)
			}
		}
	}
	known := numbers("loss 0.13062 in step 44, 2^-26.0, 12.4 %, 65536")
	for text, want := range map[string]bool{
		"0.131": true, "0.13": true, "0.14": false, "44": true, "45": false, "2⁻²⁶": true, "2⁻²⁷": false, "65 536": true, "12 %": false, "12.4 %": true,
	} {
		if got := numbers(text)[0].among(known); got != want {
			t.Errorf("%s is among the numbers: %v", text, got)
		}
	}
}
