package kernel

import "regexp"

// goFaults are the compiler's words for what people who are new to Go write, and what to do. They are looked at last: whatever else is known
// of an error says more.
var goFaults = []struct {
	said *regexp.Regexp
	fix  string
}{
	{regexp.MustCompile(`missing ',' (?:before newline )?in (argument list|composite literal|parameter list)`), "a bracket that is opened here is not closed, or, where the list goes on in the next line, this one has to end with a comma"},
	{regexp.MustCompile(`illegal rune literal|more than one character in rune literal|rune literal not terminated`), "text stands between \" and \"; between ' and ' there is one character"},
	{regexp.MustCompile(`string literal not terminated|newline in string`), "the text has no \" at its end; text of several lines stands between ` and `"},
	{regexp.MustCompile(`cannot use .* \(variable of (?:\w+ )?type (?:u?int\d*|float\d+)\) as ((?:u?int|float)\d*) value`), "Go converts no number by itself: $1(x)"},
	{regexp.MustCompile(`mismatched types (?:u?int\d*|float\d+) and ((?:u?int|float)\d*)`), "Go converts no number by itself: $1(x) for the other one"},
	{regexp.MustCompile(`cannot use .* \(untyped string constant\) as (?:(?:u?int|float)\d*) value`), "a number is written without quotes"},
	{regexp.MustCompile(`cannot use .* \(untyped float constant.*\) as (?:u?int\d*) value.*truncated|constant .* truncated to integer`), "this wants a whole number"},
	{regexp.MustCompile(`too many arguments in call to \S+\.Step$`), "Step says which step a scope is; Steps(n) of a scope makes n of them"},
	{regexp.MustCompile(`assignment mismatch: (\d+) variables? but .* returns (\d+) values?`), "it gives $2: take as many, with _ for what is not needed"},
	{regexp.MustCompile(`no new variables on left side of :=`), "these variables are there already: = gives them new values"},
	{regexp.MustCompile(`missing return$`), "every way through the function has to end with return"},
	{regexp.MustCompile(`"[^"]+" imported and not used`), "take the import out, or use it"},
}

// fixGo says what to do about a fault of Go, "" where that is not known.
func fixGo(line string) string {
	for _, f := range goFaults {
		if m := f.said.FindStringSubmatchIndex(line); m != nil {
			return string(f.said.ExpandString(nil, f.fix, line, m))
		}
	}
	return ""
}

// runtimeFaults are the words of programs that Go itself ends.
var runtimeFaults = []struct {
	said *regexp.Regexp
	fix  string
}{
	{regexp.MustCompile(`index out of range \[-?\d+\] with length 0$`), "it is empty: look where it should have been filled"},
	{regexp.MustCompile(`index out of range \[-?\d+\] with length \d+$`), "the first is 0, and the last one less than the length: for i := range list goes through all of them"},
	{regexp.MustCompile(`slice bounds out of range`), "the bounds of list[from:to] lie between 0 and len(list), and from is not above to"},
	{regexp.MustCompile(`invalid memory address or nil pointer dereference`), "a variable there is nil: give it a value before, by := or =, and look whether a := in a block has made another one of the same name"},
	{regexp.MustCompile(`assignment to entry in nil map`), "make the map first: m := map[string]int{}"},
	{regexp.MustCompile(`integer divide by zero`), "the divisor is 0: len of something empty, or a quotient of whole numbers, which has no decimals"},
	{regexp.MustCompile(`stack overflow$`), "the function calls itself without end"},
}

// fixRuntime says what to do about a fault that Go itself has found in a program that runs, "" where that is not known.
func fixRuntime(said string) string {
	for _, f := range runtimeFaults {
		if f.said.MatchString(said) {
			return f.fix
		}
	}
	return ""
}
