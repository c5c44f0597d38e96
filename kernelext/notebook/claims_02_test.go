package notebook_test

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/amp"
)

var floatingPoint = []claim{
	{"almost half of all float16 numbers lie between −1 and 1", says("decode", "65536 of 65536 patterns decoded alike", "48.4 % of those lie between")},
	{"**No format holds 0.1.**", func(t *testing.T, nb saved) {
		for _, r := range figuresIn(t, nb, "decode")[0].Bits.Values[0].Rows {
			if r.Error == 0 || r.ErrorULP > 0.5 || r.ErrorULP < -0.5 {
				t.Errorf("%s is off by %v ulp", r.Format, r.ErrorULP)
			}
		}
	}},
	{"stands still at 2048; in bfloat16 already at **256**", says("ranges", "3000 times +1 in float16: 2048\n", "3000 times +1 in bfloat16: 256\n")},
	{"**e4m3 has no infinity**", says("ranges", "70000: +Inf; 500 in e4m3: NaN")},
	{"8 in e4m3, 4 in e5m2", func(t *testing.T, nb saved) {
		// Between 2 and 4, both ends counted: the format's numbers, half a ruler of 64 marks.
		for line, want := range map[string]int{"e4m3": 9, "e5m2": 5} {
			for text := range strings.Lines(figuresIn(t, nb, "line")[0].Custom.Text) {
				if f := strings.Fields(text); f[0] == line && strings.Count(string([]rune(f[1])[32:]), "|") != want {
					t.Errorf("%s has %d marks from 2 to 4", line, strings.Count(string([]rune(f[1])[32:]), "|"))
				}
			}
		}
	}},
	{"In bfloat16 the sum stops at 256 and misses seven eighths.", checkSums},
	{"The popular formula ends **below zero**", func(t *testing.T, nb saved) {
		rows := rowsOf(t, nb, "variance", `mean +(\d+): popular formula +(\S+) +two passes (\S+) +mean of float16 squares (\S+)`, 6)
		for i, r := range rows {
			if r[2] < 0.0095 || r[2] > 0.0105 {
				t.Errorf("row %d: two passes give %g", i, r[2])
			}
			if overflow := r[3] > 65504; overflow != (r[0] >= 300) {
				t.Errorf("row %d: mean of squares %g", i, r[3])
			}
		}
		if rows[5][1] >= 0 || rows[4][1] >= 0 || rows[1][1] < 0.009 {
			t.Errorf("the popular formula: %v", rows)
		}
	}},
	{"fp16 and tf32 agree", func(t *testing.T, nb saved) {
		rows := map[string]float64{}
		for _, m := range regexp.MustCompile(`(?m)^(\w+) +elements, (\w+) accumulator: error +(\S+) %`).FindAllStringSubmatch(printed(t, nb, "product"), -1) {
			rows[m[1]+" "+m[2]], _ = strconv.ParseFloat(m[3], 64)
		}
		near := func(a, b, factor float64) bool { return a/b > factor*0.9 && a/b < factor*1.1 }
		fp16, bf16, e4m3, e5m2 := rows["fp16 float32"], rows["bf16 float32"], rows["e4m3 float32"], rows["e5m2 float32"]
		if fp16 != rows["tf32 float32"] || !near(bf16, fp16, 8) || !near(e4m3, bf16, 16) || !near(e5m2, e4m3, 2) || rows["fp16 float16"] <= bf16 {
			t.Errorf("errors: %v", rows)
		}
	}},
	{"*smallest first* is the worst of all in float16 and the best of the four in bfloat16", func(t *testing.T, _ saved) {
		s := amp.NewScope(amp.On("cpu"), amp.Seed(1)) // what the reader runs
		defer s.Close()
		x := amp.Randn(s, amp.Float32, 0, 1, 4096)
		for f, place := range map[amp.Format]int{amp.FormatFP16: 3, amp.FormatBF16: 0} {
			r := amp.ExperimentSums(x.Float64s(), f).Results
			smaller := 0
			for _, other := range r[:4] {
				if math.Abs(other.Error) < math.Abs(r[2].Error) {
					smaller++
				}
			}
			if r[2].Order != "smallest first" || smaller != place {
				t.Errorf("%v: %+v", f, r)
			}
			for _, good := range r[5:7] {
				if math.Abs(good.Error) > math.Abs(r[2].Error) {
					t.Errorf("%v: %+v is worse than %+v", f, good, r[2])
				}
			}
		}
	}},
	{"The first is rounded up, the second down to 1", says("twice", "float64 to float16:              1.0009765625\n", "float64 to float32 to float16:   1.0000000000\n")},
	{"about one number in 15 thousand", func(t *testing.T, nb saved) {
		if n := rowsOf(t, nb, "twice", `of 1000000 random numbers (\d+) come`, 1)[0][0]; 1e6/n < 14000 || 1e6/n > 16500 {
			t.Errorf("%g in a million", n)
		}
	}},
}

// checkSums finds what each order makes of the sum, in both formats.
func checkSums(t *testing.T, nb saved) {
	text := printed(t, nb, "sums")
	for format, want := range map[string]string{"fp16": "2048 2048 2048 2048 2066 2066 2066 2066", "bf16": "256 256 256 256 2048 2064 2064 2064"} {
		_, table, _ := strings.Cut(text, "numbers in "+format)
		var got []string
		for _, m := range regexp.MustCompile(`(\S+) +error`).FindAllStringSubmatch(table, 8) {
			got = append(got, m[1])
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: sums are %v, want %s", format, got, want)
		}
	}
	if !strings.Contains(text, "amp.Sum of the float16 tensor: 2066;") {
		t.Errorf("amp.Sum: %s", text)
	}
}

// says checks that a cell printed each of some texts.
func says(cell string, texts ...string) func(*testing.T, saved) {
	return func(t *testing.T, nb saved) {
		t.Helper()
		out := printed(t, nb, cell)
		for _, s := range texts {
			if !strings.Contains(out, s) {
				t.Errorf("cell %s does not print %q but\n%s", cell, s, out)
			}
		}
	}
}

// rowsOf returns the numbers that the groups of a pattern find in what a cell printed, a row per match, of which there must be n.
func rowsOf(t *testing.T, nb saved, cell, pattern string, n int) (rows [][]float64) {
	t.Helper()
	out := printed(t, nb, cell)
	for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(out, -1) {
		var row []float64
		for _, text := range m[1:] {
			v, err := strconv.ParseFloat(text, 64)
			if err != nil {
				t.Fatalf("cell %s: %v in %q", cell, err, m[0])
			}
			row = append(row, v)
		}
		rows = append(rows, row)
	}
	if len(rows) != n {
		t.Fatalf("cell %s: %d rows match %s, want %d:\n%s", cell, len(rows), pattern, n, out)
	}
	return rows
}
