// Package spelling finds what a mistyped word was meant to be.
package spelling

import (
	"strings"
	"unicode/utf8"
)

// Nearest returns the known word that a mistyped one was most likely meant to be, "" if none is near: the one with the fewest
// typing errors between them, at most one for each three letters.
func Nearest(word string, known []string) string {
	best, at := "", 1+max(1, utf8.RuneCountInString(word)/3)
	w := strings.ToLower(word)
	for _, k := range known {
		d := Distance(w, strings.ToLower(k))
		if d < at {
			best, at = k, d
		}
	}
	if best != "" {
		return best
	}
	for _, k := range known { // what was begun and not ended
		if len(w) >= 2 && strings.HasPrefix(strings.ToLower(k), w) {
			return k
		}
	}
	return ""
}

// Distance counts the letters to insert, remove, replace or swap with their neighbor to turn a into b (optimal string
// alignment).
func Distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	before, last, now := make([]int, len(y)+1), make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(x); i++ {
		now[0] = i
		for j := 1; j <= len(y); j++ {
			cost := 1
			if x[i-1] == y[j-1] {
				cost = 0
			}
			now[j] = min(last[j]+1, now[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				now[j] = min(now[j], before[j-2]+1)
			}
		}
		before, last, now = last, now, before
	}
	return last[len(y)]
}
