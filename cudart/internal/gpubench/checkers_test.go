package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// runs is whether go test -run run -skip skip runs a test's subtest: run has to match what there is of it, skip all of its own elements.
func (c checked) runs(test, sub string) bool {
	matches := func(pattern string, whole bool) bool {
		if pattern == "" {
			return false
		}
		outer, inner, deep := strings.Cut(pattern, "/")
		if !regexp.MustCompile(outer).MatchString(test) {
			return false
		}
		if !deep {
			return true
		}
		return sub == "" && !whole || sub != "" && regexp.MustCompile(inner).MatchString(sub)
	}
	return matches(c.run, false) && !matches(c.skip, true)
}

// TestCheckedParts: each test of cudart, and each subtest of those that are cut, is in one part for memory; each of attention and of what else has
// shared memory is in one for races.
func TestCheckedParts(t *testing.T) {
	files, err := filepath.Glob("../../*_test.go")
	if err != nil || len(files) < 40 {
		t.Fatal(len(files), err)
	}
	names := map[string][]string{}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(?m)^func (Test\w+)\(t \*testing\.T\)`).FindAllStringSubmatch(string(text), -1) {
			names[m[1]] = []string{"other"}
		}
	}
	names["TestGradientsThatOwe"] = []string{"fused_adam", "sgd"}
	names["TestAttentionInTiles"] = []string{"1_1_of_8_8_causal_true", "masked_8"}
	if len(names) < 100 {
		t.Fatal(len(names))
	}
	for name, subs := range names {
		for _, sub := range subs {
			in := map[string]int{}
			for _, c := range checkedParts {
				if c.pkg == "cudart" && c.runs(name, sub) {
					in[c.tool]++
				}
			}
			races := 0
			if regexp.MustCompile(raced + "|" + attention).MatchString(name) {
				races = 1
			}
			if in["memcheck"] != 1 || in["racecheck"] != races {
				t.Errorf("%s/%s: %v, want 1 and %d", name, sub, in, races)
			}
		}
	}
}
