package magic

import (
	"go/parser"
	"go/token"
	"strings"
	"testing"
)

// TestParse checks which rows are ours, and how they are put together.
func TestParse(t *testing.T) {
	for code, want := range map[string]string{
		"":                           "",
		"x := 5 % 3\n// %amp no":     "",
		"%amp":                       "0:",
		"%amp status":                "0:status",
		"%amp\tstatus\r":             "0:status",
		"\n//gonb:%amp trace off\n":  "1:trace|off",
		"%amp a \\\n b\\\nc\n%amp d": "0:a|b|c 3:d",
		"%amp a\\":                   "0:a",
		"%amp session save \"my net\" \"a \\\"b\\\".st\"": `0:session|save|my net|a "b".st`,
		"%amp trace off // for now":                       "0:trace|off",
		"%amp // all of it":                               "0:",
		"%amp save net \"//x\"":                           "0:save|net|//x",
		" %amp x":                                         "", // a command begins in the first column
		"%ampere":                                         "",
		"%args x\n%env A b\n!ls %amp\n%amp x":             "3:x",
		"%%writefile f\n%amp x":                           "",
		"%%bash\n%%amp x":                                 "",
		"//gonb:%%script perl\n%amp x":                    "",
		"%%\n%amp x\nfmt.Println()":                       "1:x",
	} {
		c, err := Parse(code)
		if err != nil {
			t.Errorf("%q: %v", code, err)
			continue
		}
		var got []string
		for _, l := range c.Lines {
			got = append(got, string(rune('0'+l.Index))+":"+strings.Join(texts(l.Words), "|"))
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%q: %q, want %q", code, s, want)
		}
	}
}

// TestParseBlock checks the flags of %%amp, long and short, and what is wrong with others.
func TestParseBlock(t *testing.T) {
	for line, want := range map[string]Block{
		"%%amp float16":          {DType: "float16"},
		"%%amp fp16":             {DType: "float16"},
		"%%amp bf16 --trace=off": {DType: "bfloat16", Trace: "off"},
		"%%amp --trace health --every 3 off --show scale":    {DType: "off", Trace: "health", Every: 3, Show: []string{"scale"}},
		"%%amp half --show=decisions,scale,decisions":        {DType: "float16", Show: []string{"decisions", "scale"}},
		"%%amp float16 --every 5 --show flow,scale":          {DType: "float16", Every: 5, Show: []string{"flow", "scale"}},
		"%%amp bf16 --show rounding":                         {DType: "bfloat16", Show: []string{"rounding"}},
		"%%amp bf16 --fp8 block":                             {DType: "bfloat16", FP8: "block"},
		"%%amp bf16 --fp4":                                   {DType: "bfloat16", FP4: "nv"},
		"%%amp --fp4 bf16":                                   {DType: "bfloat16", FP4: "nv"},
		"%%amp bf16 --fp4=mx --every 2":                      {DType: "bfloat16", FP4: "mx", Every: 2},
		"//gonb:%%amp float16 --show none":                   {DType: "float16", Show: []string{}},
		"%%amp float16 \\\n --show exponents --trace health": {DType: "float16", Trace: "health", Show: []string{"exponents"}},
	} {
		c, err := Parse("var a int\n" + line + "\nx()")
		if err != nil || c.Block == nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		b := *c.Block
		if b.Index != 1 || b.DType != want.DType || b.Trace != want.Trace || b.Every != want.Every || b.FP8 != want.FP8 || b.FP4 != want.FP4 || (b.Show == nil) != (want.Show == nil) || strings.Join(b.Show, ",") != strings.Join(want.Show, ",") {
			t.Errorf("%s: %+v", line, b)
		}
	}
	for line, want := range map[string]string{
		"%%amp":                                      "does not say in which dtype",
		"%%amp float64":                              `"float64" is no dtype autocast runs in; did you mean "float16"?`,
		"%%amp fp32":                                 `did you mean "off"?`,
		"%%amp int8":                                 "use float16, bfloat16 or off",
		"%%amp float16 bfloat16":                     "it says both float16 and bfloat16",
		"%%amp float16 --show":                       "--show needs a value",
		"%%amp float16 --show scales":                `"scales" is no figure; did you mean "scale"?`,
		"%%amp float16 --show ,":                     `"" is no figure`,
		"%%amp float16 --every x":                    `"x" is no number`,
		"%%amp float16 --every 0":                    `"0" is no number`,
		"%%amp float16 --fp8":                        "--fp8 needs a value",
		"%%amp float16 --fp8 rows":                   `did you mean "row"?`,
		"%%amp float16 --fp4 my":                     `did you mean "mx"?`,
		"%%amp float16 --fp4 --fp8 row":              "it says both",
		"%%amp off --fp4":                            "write %%amp bfloat16 --fp4 nv",
		"%%amp off --fp8 row":                        "write %%amp bfloat16 --fp8 row",
		"%%amp float16 --trcae off":                  `did you mean "--trace"?`,
		"%%amp --help":                               "%amp help %%amp says more",
		"%%amp float16 -trace off":                   `did you mean "--trace"?`,
		"%%amp float16 --trace healthy":              `did you mean "health"?`,
		"%%amp float16 --trace off --show exponents": "use --trace health",
		"%%amp float16 --trace off --show decisions": "records nothing",
		"%%amp float16\n%%amp off":                   "the cell has a %%amp already, in line 2",
		"%%\n%%amp off":                              "%% and %%amp cannot both say",
		"%%amp off\n%test":                           "%test and %%amp cannot both say",
		"%%apm off":                                  `did you mean "%%amp"?`,
		"%amp \"x":                                   "not closed",
	} {
		_, err := Parse("\n" + line)
		if err == nil || !strings.Contains(err.Error(), want) || err.Line < 2 {
			t.Errorf("%s: %v, want %q", line, err, want)
		}
	}
}

// TestRewriteKeepsRows: in what GoNB gets every row is where it was, what follows the last one is ours, and what was Go is Go.
func TestRewriteKeepsRows(t *testing.T) {
	for _, c := range []struct {
		code, body string // body: rows that must be there unchanged, by their place
		whole      bool   // the whole is a Go file but for GoNB's own rows
	}{
		{"%amp status\nfmt.Println()\n%amp a\\\nb\nx", "1 4", false},
		{"var a = 1\n%%amp float16\nfmt.Println(a)\n%amp trace off\nreturn // end", "0 2 4", true},
		{"%%amp off --show none\nfor {\n}", "1 2", true},
		{"%%amp off \\\n --trace off\nx := `\n%\n`\n_ = x", "2 4 5", true},
		{"%%amp off\n", "1", true},
		{"%%amp off\nt := session.Tensor(\"t\", f)\n_ = t", "1 2", true},
	} {
		cell, err := Parse(c.code)
		if err != nil {
			t.Fatal(err)
		}
		out := cell.Rewrite(c.code, Settings{})
		before, after := strings.Split(c.code, "\n"), strings.Split(out, "\n")
		if extra := len(after) - len(before); extra != 0 && (extra != 1 || after[len(after)-1] != "}) }") {
			t.Errorf("%q became\n%s", c.code, out)
		}
		for _, i := range strings.Fields(c.body) {
			if n := int(i[0] - '0'); after[n] != before[n] {
				t.Errorf("%q: row %d became %q", c.code, n, after[n])
			}
		}
		if strings.Contains(out, "%amp") {
			t.Errorf("%q: a magic is left in\n%s", c.code, out)
		}
		if c.whole {
			if _, err := parser.ParseFile(token.NewFileSet(), "", "package main; "+out, 0); err != nil {
				t.Errorf("%q: %v in\n%s", c.code, err, out)
			}
		}
		if again, _ := Parse(out); len(again.Lines) > 0 || again.Block != nil {
			t.Errorf("%q: still has magics", c.code)
		}
	}
	plain := "%%\nfmt.Println(\"%amp\")"
	if c, _ := Parse(plain); c.Rewrite(plain, Settings{}) != plain {
		t.Error("a cell without magics was changed")
	}
}

// TestRewriteOptions checks what the cell's program is told, given what %amp has set.
func TestRewriteOptions(t *testing.T) {
	health := Settings{}
	health.Trace = "health"
	for _, c := range []struct {
		line string
		set  Settings
		want string
	}{
		{"%%amp float16", Settings{}, `halftonecell.Options{DType: "float16", Trace: "decisions"}`},
		{"%%amp float16", health, `halftonecell.Options{DType: "float16"}`},
		{"%%amp float16 --trace off", health, `halftonecell.Options{DType: "float16", Trace: "off"}`},
		{"%%amp off --show exponents", Settings{}, `halftonecell.Options{DType: "off", Trace: "health", Show: []string{"exponents"}}`},
		{"%%amp off --show exponents", health, `halftonecell.Options{DType: "off", Show: []string{"exponents"}}`},
		{"%%amp float16 --show flow", Settings{}, `halftonecell.Options{DType: "float16", Trace: "decisions", Show: []string{"flow"}}`},
		{"%%amp bfloat16 --fp4", Settings{}, `halftonecell.Options{DType: "bfloat16", Trace: "decisions", FP4: "nv"}`},
		{"%%amp bfloat16 --fp8=row", Settings{}, `halftonecell.Options{DType: "bfloat16", Trace: "decisions", FP8: "row"}`},
		{"%%amp off --show none --every 4", Settings{}, `halftonecell.Options{DType: "off", Trace: "decisions", Every: 4, Show: []string{}}`},
	} {
		cell, err := Parse(c.line)
		if err != nil {
			t.Fatal(err)
		}
		if out := cell.Rewrite(c.line, c.set); !strings.Contains(out, "Run("+c.want+", func(s, half *amp.Scope) {") {
			t.Errorf("%s: %s, want %s", c.line, out, c.want)
		}
	}
	joined := "%%amp off\nroot := session.NewScope()\n_ = root"
	cell, _ := Parse(joined)
	if strings.Contains(cell.Rewrite(joined, Settings{}), "session.Join") {
		t.Error("a body that has a session scope of its own was joined")
	}
}

// TestMoved follows a cursor through the rewriting.
func TestMoved(t *testing.T) {
	code := "%amp status\n%%amp float16\nhälf.|x\n"
	at := strings.Index(code, "|")
	code = strings.Replace(code, "|", "", 1)
	pos := len([]rune(code[:at]))
	cell, err := Parse(code)
	if err != nil {
		t.Fatal(err)
	}
	out := cell.Rewrite(code, Settings{})
	to, ok := Moved(code, out, pos)
	if !ok || string([]rune(out)[to-5:to+1]) != "hälf.x" {
		t.Errorf("%d, %v: %q", to, ok, string([]rune(out)[to-5:]))
	}
	if _, ok := Moved(code, out, 5); ok {
		t.Error("a cursor in a magic has a place in what has none")
	}
}

// TestParseSpaced: a space behind the % is told; behind %% it begins the program's arguments, which is GoNB's.
func TestParseSpaced(t *testing.T) {
	for code, want := range map[string]string{"% amp status": `did you mean "%amp"?`, "//gonb:% amp status\nx": `did you mean "%amp"?`, "%% amp status": "", "% ls": "", "% ": ""} {
		_, err := Parse(code)
		if (err != nil) != (want != "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", code, err)
		}
	}
}
