package widgets

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/internal/bidi"
)

// Bounds of texts that come from users' code: module paths, op, parameter and run names, rules.
const (
	maxName  = 80
	maxRule  = 200
	maxTitle = 120
	maxAlt   = 600
)

// clip makes a text fit for one line of a figure: valid UTF-8, control characters as spaces, at most max runes.
func clip(s string, max int) string {
	if len(s) > 8*max { // a megabyte of name must not be walked rune by rune
		s = s[:8*max]
	}
	var b strings.Builder
	n := 0
	for _, r := range strings.ToValidUTF8(s, "\uFFFD") {
		if n == max-1 && utf8.RuneCountInString(s) > max {
			b.WriteRune('…')
			break
		}
		switch {
		case bidi.Mark(r):
			continue // direction marks could reorder the text around a name
		case unicode.IsControl(r) || r == '\u2028' || r == '\u2029':
			r = ' '
		}
		b.WriteRune(r)
		n++
	}
	return b.String()
}

// width is the number of terminal columns of s, which holds no wide characters of ours.
func width(s string) int { return utf8.RuneCountInString(s) }

// pad fills s with spaces up to n columns.
func pad(s string, n int) string {
	if w := width(s); w < n {
		return s + strings.Repeat(" ", n-w)
	}
	return s
}

// padLeft right-aligns s in n columns.
func padLeft(s string, n int) string {
	if w := width(s); w < n {
		return strings.Repeat(" ", n-w) + s
	}
	return s
}

// wrap breaks s at spaces into lines of at most n columns; a longer word is broken too.
func wrap(s string, n int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(s) {
		for width(word) > n {
			if line != "" {
				lines = append(lines, line)
				line = ""
			}
			r := []rune(word)
			lines = append(lines, string(r[:n]))
			word = string(r[n:])
		}
		switch {
		case line == "":
			line = word
		case width(line)+1+width(word) <= n:
			line += " " + word
		default:
			lines = append(lines, line)
			line = word
		}
	}
	if line != "" || len(lines) == 0 {
		lines = append(lines, line)
	}
	return lines
}

// paragraph writes a text in lines of a figure, the first behind one mark, the others behind another.
func paragraph(b *strings.Builder, text, first, rest string) {
	for i, l := range wrap(text, 100) {
		b.WriteString("  " + map[bool]string{true: first, false: rest}[i == 0] + l + "\n")
	}
}

// Mark returns the sign that stands beside a dtype wherever color does: ▮ float16, ▯ bfloat16, ■ float32, ▢ other.
func Mark(d amp.DType) string {
	switch d {
	case amp.Float16:
		return "▮"
	case amp.BFloat16:
		return "▯"
	case amp.Float32:
		return "■"
	}
	return "▢"
}

// Bytes writes a size for people: "640 B", "16.4 KB", "4.19 MB" (powers of 1000).
func Bytes(n int64) string {
	v, unit := float64(n), "B"
	for _, u := range []string{"KB", "MB", "GB", "TB", "PB"} {
		if v < 1000 {
			break
		}
		v, unit = v/1000, u
	}
	if unit == "B" {
		return fmt.Sprintf("%d B", n)
	}
	return significant(v) + " " + unit
}

// Duration writes nanoseconds for people: "840 ns", "12.3 µs", "1.52 s".
func Duration(ns int64) string {
	v, unit := float64(ns), "ns"
	for _, u := range []string{"µs", "ms", "s"} {
		if v < 1000 {
			break
		}
		v, unit = v/1000, u
	}
	if unit == "ns" {
		return fmt.Sprintf("%d ns", ns)
	}
	return significant(v) + " " + unit
}

// significant writes v ≥ 1 with three significant digits.
func significant(v float64) string {
	switch {
	case v >= 99.95:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case v >= 9.995:
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}

// Count writes an integer with a comma between thousands.
func Count[T int | int64](n T) string {
	s := strconv.FormatInt(int64(n), 10)
	neg := strings.HasPrefix(s, "-")
	s = strings.TrimPrefix(s, "-")
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	if neg {
		return "-" + s
	}
	return s
}

// ScaleText writes a loss scale: grouped when it is a whole number that people can read, as a power of two otherwise.
func ScaleText(v Number) string {
	x := float64(v)
	switch {
	case !v.finite():
		return strconv.FormatFloat(x, 'g', -1, 64)
	case x == math.Trunc(x) && math.Abs(x) < 1<<31:
		return Count(int64(x))
	case math.Abs(x) >= 1e-3 && math.Abs(x) < 1e7:
		return strconv.FormatFloat(x, 'g', 5, 64)
	}
	if f, e := math.Frexp(x); f == 0.5 {
		return fmt.Sprintf("2^%d", e-1)
	}
	return strconv.FormatFloat(x, 'g', 4, 64)
}

// percent writes a share for people: "0%", "0.2%", "12%"; never "0%" for something nor "100%" for not all.
func percent(part, whole int) string {
	if whole <= 0 || part <= 0 {
		return "0%"
	}
	p := 100 * float64(part) / float64(whole)
	switch {
	case part >= whole:
		return "100%"
	case p < 0.1:
		return "under 0.1%"
	case p > 99.9:
		return "over 99.9%"
	case p < 9.95 || p > 99:
		return strings.TrimSuffix(strconv.FormatFloat(p, 'f', 1, 64), ".0") + "%"
	}
	return strconv.FormatFloat(p, 'f', 0, 64) + "%"
}

// capital begins a sentence with words.
func capital(words string) string { return strings.ToUpper(words[:1]) + words[1:] }

// plural writes "1 step", "2 steps".
func plural[T int | int64](n T, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return Count(n) + " " + one + "s"
}

// Percent writes a share, for figures and what is said beside them: "under 0.1%" and "over 99.9%" where it is not none, and not all.
func Percent(part, whole int) string { return percent(part, whole) }
