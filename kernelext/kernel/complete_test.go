package kernel

import "testing"

func TestIsComplete(t *testing.T) {
	for code, want := range map[string]string{
		"":                                      "complete",
		"x":                                     "complete",
		"var x = 1":                             "complete",
		"func f() {}":                           "complete",
		"func f() {":                            "incomplete",
		"func f() {\n\tg(":                      "incomplete",
		"var x = []int{1,":                      "incomplete",
		"x :=":                                  "incomplete",
		"a +":                                   "incomplete",
		"a && ":                                 "incomplete",
		"fmt.":                                  "incomplete",
		"i++":                                   "complete",
		"x := <-c":                              "complete",
		"}":                                     "invalid", // another line does not help
		"func f() {\n\tg(}":                     "invalid",
		"x := 'ab":                              "invalid",
		"x := #":                                "invalid",
		"!echo \\\n  (":                         "complete",
		"amp.MatMul?":                           "complete",
		"?amp":                                  "complete",
		"var s = `one":                          "incomplete",
		"var s = `one\ntwo`":                    "complete",
		"var s = \"one":                         "invalid",
		"/* comment":                            "incomplete",
		"// comment {":                          "complete",
		"s := \"{\"":                            "complete",
		"r := '{'":                              "complete",
		"!echo \\":                              "incomplete",
		"%%":                                    "incomplete", // what it is to run comes yet
		"%%\n":                                  "complete",
		"%%\nx := 1":                            "incomplete", // as does what uses x
		"%%\nx := 1\nfmt.Println(x)":            "incomplete",
		"%%\nx := 1\nfmt.Println(x)\n":          "complete",
		"%%\nfor {\n\n":                         "incomplete",
		"%%\nfor {\n\n}\n    ":                  "complete",
		"%%\n}":                                 "invalid",
		"%%amp float16":                         "incomplete",
		"%%amp float16\nx := 1\n":               "complete",
		"import \"fmt\"\n%main\nfmt.Println()":  "incomplete",
		"%%\nfor {":                             "incomplete",
		"%% --n=(":                              "incomplete",
		"%% --n=(\nf()\n":                       "complete",
		"!ls (":                                 "complete",
		"%env A=(\nvar x = 1":                   "complete",
		"%%bash\nfor i in (":                    "incomplete",
		"%%bash\necho\n":                        "complete",
		"import (\n\t\"fmt\"":                   "incomplete",
		"import (\n\t\"fmt\"\n)":                "complete",
		"type T struct {\n\tA int // {\n}\n":    "complete",
		"func f() {\n\tif x {\n\t\treturn\n\t}": "incomplete",
	} {
		if got := isComplete(code)["status"]; got != want {
			t.Errorf("%q is %s, want %s", code, got, want)
		}
	}
	if got := isComplete("func f() {\n\tif x {")["indent"]; got != "        " {
		t.Errorf("indent %q", got)
	}
}
