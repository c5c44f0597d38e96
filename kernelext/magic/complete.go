package magic

import (
	"context"
	"slices"
	"strings"

	"github.com/halftone-ml/halftone/widgets"
)

// A Completion lists what can stand for the characters from Start to End of a cell.
type Completion struct {
	Choices    []Choice
	Start, End int
}

// A place is where a cursor stands in a magic.
type place struct {
	magic   string   // %amp or %%amp; "" while it is being typed
	before  []string // whole words between the magic and the cursor
	word    string   // what has been typed of the word at the cursor
	at      string   // the whole word at the cursor
	start   int      // of word, in characters of the cell
	partial string   // the magic as far as it has been typed
}

// find returns the place of a cursor, given in characters; false if it is in no magic.
func find(code string, cursor int) (place, bool) {
	rows := strings.Split(code, "\n")
	if !has(code) || slices.Contains(foreign, head(rows[0])) {
		return place{}, false
	}
	row, col := 0, max(cursor, 0)
	for row < len(rows)-1 && col > len([]rune(rows[row])) {
		col -= len([]rune(rows[row])) + 1
		row++
	}
	first := row
	for first > 0 && strings.HasSuffix(strings.TrimRight(rows[first-1], "\r"), `\`) && head(rows[first]) == "" {
		first--
	}
	line := []rune(rows[row])
	col = min(col, len(line))
	typed := string(line[:col])
	for i := row - 1; i >= first; i-- {
		typed = strings.TrimSuffix(strings.TrimRight(trim(rows[i]), "\r"), `\`) + " " + typed
	}
	typed = trim(typed)
	if !strings.HasPrefix(typed, "%") {
		return place{}, false
	}
	p := place{}
	i := strings.LastIndexAny(typed, " \t") + 1
	p.word = typed[i:]
	p.start = cursor - len([]rune(p.word))
	rest, _, _ := strings.Cut(strings.ReplaceAll(string(line[col:]), "\t", " "), " ")
	p.at = p.word + strings.TrimRight(rest, "\r\\")
	words, err := split(typed[:i], 0)
	if err != nil {
		return place{}, false // within quotes: a name of the user's own
	}
	if len(words) == 0 {
		p.partial = p.word
		return p, true
	}
	if m := words[0].Text; m == LineMagic || m == CellMagic {
		p.magic, p.before = m, texts(words[1:])
		return p, true
	}
	return place{}, false
}

// gonb are commands of GoNB that begin a row, for those who type a % and look.
var gonb = []Choice{
	{"%%", "the rows below run"}, {"%args", "arguments of the program"}, {"%autoget", "go get before each build"}, {"%noautoget", "no go get"},
	{"%capture", "also write the output to a file"}, {"%cd", "change directory"}, {"%env", "set an environment variable"}, {"%exec", "run a function"},
	{"%goflags", "flags of go build"}, {"%goworkfix", "use go.work's modules in go.mod"}, {"%help", "GoNB's commands"}, {"%list", "what is declared"},
	{"%remove", "forget a declaration"}, {"%reset", "forget all declarations"}, {"%test", "run tests of the cell"}, {"%track", "files that completion knows"},
	{"%version", "GoNB's version"}, {"%wasm", "run the cell in the browser"}, {"%with_inputs", "the next ! line reads input"},
	{"%%writefile", "write the cell to a file"}, {"%%bash", "run the cell with bash"}, {"%%script", "run the cell with a program"},
}

// Complete completes the word at a cursor, counted in characters; false if it stands in no magic of ours.
func (e *Engine) Complete(code string, cursor int) (Completion, bool) {
	p, ok := find(code, cursor)
	if !ok {
		return Completion{}, false
	}
	c := Completion{Start: p.start, End: cursor}
	switch p.magic {
	case "":
		all := append([]Choice{{LineMagic, "mixed precision: settings and answers"}, {CellMagic, "run the cell under autocast"}}, gonb...)
		c.Choices = filter(all, p.partial)
		return c, len(c.Choices) > 0
	case CellMagic:
		c.Choices = completeBlock(p)
		return c, true
	}
	if len(p.before) == 0 {
		for _, cmd := range commands {
			c.Choices = append(c.Choices, Choice{cmd.name, cmd.short})
		}
	} else if cmd := lookup(p.before[0]); cmd != nil && cmd.complete != nil {
		if name, _, ok := strings.Cut(p.word, "="); ok && cmd == forceCommand {
			for _, f := range forcible {
				c.Choices = append(c.Choices, Choice{name + "=" + f.word, widgets.ClassMeaning(f.class)})
			}
		} else {
			c.Choices = cmd.complete(e, p.before[1:])
		}
	}
	c.Choices = filter(c.Choices, p.word)
	return c, true
}

// completeBlock completes a word of a %%amp line.
func completeBlock(p place) []Choice {
	word, flag := p.word, ""
	if n := len(p.before); n > 0 && strings.HasPrefix(p.before[n-1], "--") && !strings.Contains(p.before[n-1], "=") {
		flag = p.before[n-1]
	}
	lead := ""
	if f, v, ok := strings.Cut(word, "="); ok && strings.HasPrefix(f, "--") {
		flag, lead, word = f, f+"=", v
	}
	var out []Choice
	switch flag {
	case "--trace":
		out = choices(levels...)
	case "--fp8":
		out = choices(blockScales...)
	case "--fp4":
		out = choices(blockFP4...)
	case "--show":
		done := ""
		if i := strings.LastIndex(word, ","); i >= 0 {
			done = word[:i+1]
		}
		for _, name := range blockFigures {
			if !slices.Contains(strings.Split(done, ","), name) {
				out = append(out, Choice{Text: done + name})
			}
		}
		if done == "" {
			out = append(out, Choice{Text: "none"})
		}
	case "--every":
		return nil
	default:
		if !slices.ContainsFunc(p.before, func(w string) bool { return slices.Contains(blockDTypes, w) }) {
			out = choices(blockDTypes...)
		}
		for _, f := range blockFlags {
			if !slices.ContainsFunc(p.before, func(w string) bool { return w == f || strings.HasPrefix(w, f+"=") }) {
				out = append(out, Choice{Text: f})
			}
		}
	}
	for i := range out {
		out[i].Text = lead + out[i].Text
	}
	return filter(out, p.word)
}

// filter keeps the choices that begin with what was typed; without any, those that hold it.
func filter(all []Choice, typed string) []Choice {
	for _, fits := range []func(s, part string) bool{strings.HasPrefix, strings.Contains} {
		out := slices.DeleteFunc(slices.Clone(all), func(c Choice) bool { return !fits(strings.ToLower(c.Text), strings.ToLower(typed)) })
		if len(out) > 0 {
			return out
		}
	}
	return nil
}

// Inspect answers what the word at a cursor means; false if it stands in no magic of ours.
func (e *Engine) Inspect(code string, cursor int) (Answer, bool) {
	p, ok := find(code, cursor)
	if !ok {
		return Answer{}, false
	}
	topic := p.magic
	switch {
	case p.magic == "":
		topic = p.at
	case p.magic == LineMagic && len(p.before) == 0 && p.at != "":
		topic = p.at
	case p.magic == LineMagic && len(p.before) > 0:
		topic = p.before[0]
		name, _, _ := strings.Cut(p.at, "=")
		if topic == "policy" || topic == "force" || topic == "ops" {
			if _, err := op(name); err == nil {
				a, err := e.policy(context.Background(), []string{name})
				return a, err == nil
			}
		}
	}
	switch {
	case topic == CellMagic:
		return blockHelp(), true
	case lookup(topic) != nil:
		a, err := helpOn(topic)
		return a, err == nil
	case topic == LineMagic:
		a, err := e.help(nil)
		return a, err == nil
	}
	return Answer{}, false
}
