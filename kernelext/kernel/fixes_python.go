package kernel

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// What people who think in Python write, and what it is in Go.

const bothSides = "notebooks/cheatsheet.md has PyTorch and Halftone side by side"

const scopeFirst = "ops, layers and losses take a scope first: amp.Sum(s, x); s is what amp.NewScope(), Autocast and each step of a loop of Steps give"

// pythonLines are lines of Python, by what they begin with.
var pythonLines = []struct {
	line *regexp.Regexp
	fix  string
}{
	{regexp.MustCompile(`^\s*(import torch|import numpy|from [\pL\pN_.]+ import)\b`), "this is Python; cells are Go, and amp, nn, optim and widgets are imported by themselves: " + bothSides},
	{regexp.MustCompile(`^\s*with .*(?i:autocast).*[:{]\s*$`), "autocast is a scope in Go: half := s.Autocast(amp.Float16), then give half to each op"},
	{regexp.MustCompile(`^\s*with .*(?i:no_?grad).*[:{]\s*$`), "that is a scope in Go: quiet := s.NoGrad(), then give quiet to each op"},
	{regexp.MustCompile(`^\s*with [^:]*[:{]\s*$`), "Go has no with: " + bothSides},
	{regexp.MustCompile(`^\s*for .+ in .+:\s*$`), "a loop in Go: for i := range 10 { … }, of steps: for s := range root.Steps(10) { … }; it stands below a line %%"},
	{regexp.MustCompile(`^\s*(async )?def .*:\s*$`), "a function in Go: func name(s *amp.Scope, x *amp.Tensor) *amp.Tensor { … }"},
	{regexp.MustCompile(`^\s*class .*:\s*$`), "a module in Go: nn.NewSequential(…), nn.Func(…), or a type with Forward and Parameters"},
	{regexp.MustCompile(`^\s*(if|elif|else|while)\b[^{]*:\s*$`), "blocks stand in braces in Go: if x > 0 { … }"},
	{regexp.MustCompile(`^print\(`), "in Go: fmt.Println(…), below a line %%"},
}

var (
	located = regexp.MustCompile(`^cell (\d+), line (\d+): `)
	// (lr=0.1), but not ==, <= and their like
	keyword = regexp.MustCompile(`[(,]\s*[\pL_][\pL\pN_]*\s*=[^=]`)
)

// pythonFaults are the compiler's words for what is no Go.
var pythonFaults = []struct {
	said *regexp.Regexp
	fix  string
}{
	{regexp.MustCompile(`illegal character U\+0040 '@'`), "Go has no operator @: amp.MatMul(s, a, b)"},
	{regexp.MustCompile(`illegal character U\+0023 '#'`), "a comment begins with // in Go"},
	{regexp.MustCompile(`operator (\S+) not defined on .*\*amp\.Tensor|mismatched types .*\*amp\.Tensor|cannot convert .* to type \*amp\.Tensor`), "tensors have functions for operators: amp.Add, amp.Sub, amp.Mul, amp.Div (s, a, b), with a number amp.AddScalar, amp.MulScalar (s, a, 2)"},
	{regexp.MustCompile(`invalid operation: cannot call nn\.\pL+ \(variable of interface type nn\.Module\)`), "an activation is a module already: write it without ()"},
	{regexp.MustCompile(`invalid operation: cannot call .*type (\*nn\.|nn\.Module)`), "a module is called by its method: net.Forward(s, x)"},
	{regexp.MustCompile(`cannot index .*\*amp\.Tensor`), "amp.Select(s, x, dim, i) takes one of a dimension, amp.Narrow(s, x, dim, start, length) a range, x.Float64s()[i] a number"},
	{regexp.MustCompile(`does not satisfy amp\.Element`), "elements are float32, float64, int64 or bool: amp.From([]int64{0, 1}); halves are made by amp.To(s, x, amp.Float16)"},
	{regexp.MustCompile(`cannot use .* as amp\.DType value`), "dtypes are amp.Float16, amp.BFloat16, amp.Float32, amp.Float64, amp.Int64 and amp.Bool"},
	{regexp.MustCompile(`cannot use .* as \*amp\.Scope value`), scopeFirst},
	{regexp.MustCompile(`too many arguments in call to \S+\.Update$`), "a scale of one's own is set by UpdateTo(512), in place of Update()"},
	{regexp.MustCompile(`too many arguments in call to \S+\.Scale$`), "Scale takes one loss; ScaleAll(s, a, b) takes several"},
	{regexp.MustCompile(`cannot use amp\.Enabled\(.* as amp\.ScalerOption value`), "amp.Enabled is autocast's; a scaler is switched off by amp.ScalerEnabled(false)"},
	{regexp.MustCompile(`cannot use .* as amp\.ScalerOption value`), "options are functions: amp.NewGradScaler(amp.InitScale(1024), amp.GrowthInterval(100)); the device is that of the loss"},
	{regexp.MustCompile(`cannot use .* as optim\.Option value`), "options are functions: optim.NewAdamW(net.Parameters(), optim.LR(0.001), optim.WeightDecay(0.1))"},
	{regexp.MustCompile(`cannot use .* as amp\.ScopeOption value`), "options are functions: amp.NewScope(amp.On(\"auto\"), amp.Seed(1))"},
}

var tooManyInConversion = regexp.MustCompile(`(?:too many|not enough) arguments in conversion to (nn|optim|amp)\.(\pL[\pL\pN]*)`)

// fixPython says what a line of a report is in Go, "" where it has nothing of Python.
func fixPython(line, file string) string {
	if m := tooManyInConversion.FindStringSubmatch(line); m != nil {
		return m[1] + ".New" + m[2] + " makes one"
	}
	for _, f := range pythonFaults {
		if f.said.MatchString(line) {
			return f.fix
		}
	}
	at := located.FindStringSubmatch(line)
	if at == nil || !strings.Contains(line, "expected ") && !strings.Contains(line, "missing ") {
		return ""
	}
	n, _ := strconv.Atoi(at[2])
	lines := strings.Split(cellCode(file, at[1]), "\n")
	if n < 1 || n > len(lines) {
		return ""
	}
	for _, p := range pythonLines {
		if p.line.MatchString(lines[n-1]) {
			return p.fix
		}
	}
	if strings.Contains(line, "found '='") && keyword.MatchString(lines[n-1]) {
		return "Go has no keyword arguments; options are functions: optim.LR(0.1), amp.InitScale(1024)"
	}
	return ""
}

// standardNames are packages that cells use without an import.
var standardNames = map[string]bool{"fmt": true, "math": true, "time": true, "strings": true, "os": true, "slices": true, "maps": true, "errors": true,
	"strconv": true, "bytes": true, "sort": true, "sync": true, "bufio": true, "io": true, "json": true, "rand": true}

// membersUsed lists what a cell uses of a package.
func membersUsed(pkg, code string) (list []string) {
	for _, m := range regexp.MustCompile(`\b`+regexp.QuoteMeta(pkg)+`\.\pL[\pL\pN]*`).FindAllString(code, -1) {
		if !slices.Contains(list, m) {
			list = append(list, m)
		}
	}
	return list
}
