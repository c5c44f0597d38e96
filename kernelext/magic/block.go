package magic

import (
	"fmt"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"

	"github.com/halftone-ml/halftone/amp"
)

// A Block is the %%amp line of a cell: how the rest of the cell runs.
type Block struct {
	Line
	DType string   // "float16", "bfloat16" or "off"
	Trace string   // level asked for; "" if the line names none
	Every int      // steps between two looks at level health; 0 if the line names none
	FP8   string   // what shares a scale of 8 bits: "tensor", "row", "block"; "" if the line does not ask for 8 bits
	FP4   string   // what products of 4 bits read: "nv" or "mx"; "" if the line does not ask for 4 bits
	Show  []string // figures asked for; nil if the line names none, empty for "none"
}

// What %%amp takes.
var (
	blockDTypes  = []string{"float16", "bfloat16", "off"}
	blockFlags   = []string{"--trace", "--every", "--show", "--fp8", "--fp4"}
	blockScales  = []string{amp.PerTensor.String(), amp.PerRow.String(), amp.PerBlock.String()}
	blockFP4     = []string{"nv", "mx"}
	blockFigures = []string{"decisions", "scale", "exponents", "flow", "rounding"}
	levels       = []string{"off", "decisions", "health"}
)

const blockUsage = "%%amp float16|bfloat16|off [--trace off|decisions|health] [--every N] [--show decisions,scale,exponents,flow,rounding] [--fp8 tensor|row|block] [--fp4 [nv|mx]]"

// askHelp are flags of other commands that print how they are used.
var askHelp = []string{"--help", "-h", "-help"}

// block reads a %%amp line.
func (c *Cell) block(rows []string, l Line) *Error {
	if c.Block != nil {
		return &Error{Word: CellMagic, Detail: fmt.Sprintf("the cell has a %%%%amp already, in line %d", c.Block.Index+1), Fix: "split the cell in two"}
	}
	var err error
	if l.Words, err = split(l.Text, len(CellMagic)); err != nil {
		return &Error{Detail: err.Error()}
	}
	b := &Block{Line: l}
	words := texts(l.Words)
	for i := 0; i < len(words); i++ {
		flag, value, joined := strings.Cut(words[i], "=")
		if !strings.HasPrefix(flag, "-") {
			if err := b.dtype(words[i]); err != nil {
				return err
			}
			continue
		}
		if slices.Contains(askHelp, flag) {
			return &Error{Word: flag, Detail: "it takes " + strings.TrimPrefix(blockUsage, CellMagic+" "), Fix: "%amp help %%amp says more"}
		}
		if !slices.Contains(blockFlags, flag) {
			return wrong(flag, "flag of %%amp", blockFlags)
		}
		if !joined && flag == "--fp4" && !b.takesFP4(words[i+1:]) {
			value, joined = blockFP4[0], true
		}
		if !joined {
			if i+1 == len(words) {
				return &Error{Word: flag, Detail: flag + " needs a value", Fix: "write " + blockUsage}
			}
			i++
			value = words[i]
		}
		if err := b.flag(flag, value); err != nil {
			return err
		}
	}
	if b.DType == "" {
		return &Error{Detail: "it does not say in which dtype to run", Fix: "write " + blockUsage}
	}
	if slices.Contains(b.Show, "exponents") && b.Trace != "" && b.Trace != "health" {
		return &Error{Word: b.Trace, Detail: "--show exponents counts what the results hold, which --trace " + b.Trace + " does not", Fix: "use --trace health"}
	}
	if slices.Contains(b.Show, "decisions") && b.Trace == "off" {
		return &Error{Word: "off", Detail: "--show decisions draws what was recorded, and --trace off records nothing", Fix: "use --trace decisions"}
	}
	return c.takes(b)
}

// takes makes b the cell's block unless 8 and 4 bits do not go with what else the line asks for.
func (c *Cell) takes(b *Block) *Error {
	switch {
	case b.FP4 != "" && b.FP8 != "":
		return &Error{Word: "--fp4", Detail: "it says both --fp8 and --fp4", Fix: "use one of them"}
	case b.FP8 != "" && b.DType == "off":
		return &Error{Word: "off", Detail: "--fp8 is for products under autocast, which is off", Fix: "write %%amp bfloat16 --fp8 " + b.FP8}
	case b.FP4 != "" && b.DType == "off":
		return &Error{Word: "off", Detail: "--fp4 is for products under autocast, which is off", Fix: "write %%amp bfloat16 --fp4 " + b.FP4}
	}
	c.Block = b
	return nil
}

// takesFP4 says whether the word after --fp4 is its value, which may be left out.
func (b *Block) takesFP4(rest []string) bool {
	if len(rest) == 0 || strings.HasPrefix(rest[0], "-") || slices.Contains(blockDTypes, rest[0]) {
		return false
	}
	_, err := amp.ParseDType(strings.ToLower(rest[0]))
	return err != nil
}

func (b *Block) dtype(word string) *Error {
	name := word
	if d, err := amp.ParseDType(strings.ToLower(word)); err == nil {
		name = d.String() // fp16, half …
	}
	switch {
	case name == amp.Float32.String():
		return &Error{Word: word, Detail: "without autocast a cell runs in float32", Near: "off"}
	case !slices.Contains(blockDTypes, name):
		return wrong(word, "dtype autocast runs in", blockDTypes)
	case b.DType != "":
		return &Error{Word: word, Detail: fmt.Sprintf("it says both %s and %s", b.DType, name), Fix: "name one dtype"}
	}
	b.DType = name
	return nil
}

func (b *Block) flag(flag, value string) *Error {
	switch flag {
	case "--trace":
		if !slices.Contains(levels, value) {
			return wrong(value, "trace level", levels)
		}
		b.Trace = value
	case "--every":
		n, err := strconv.Atoi(value)
		if err != nil || n < 1 {
			return &Error{Word: value, Detail: fmt.Sprintf("--every counts steps, and %q is no number of them", value), Fix: "use --every 10"}
		}
		b.Every = n
	case "--fp8":
		if !slices.Contains(blockScales, value) {
			return wrong(value, "thing that shares a scale", blockScales)
		}
		b.FP8 = value
	case "--fp4":
		if !slices.Contains(blockFP4, value) {
			return wrong(value, "format of 4 bits", blockFP4)
		}
		b.FP4 = value
	case "--show":
		b.Show = []string{}
		if value == "none" {
			return nil
		}
		for _, name := range strings.Split(value, ",") {
			if !slices.Contains(blockFigures, name) {
				return wrong(name, "figure", append(slices.Clone(blockFigures), "none"))
			}
			if !slices.Contains(b.Show, name) {
				b.Show = append(b.Show, name)
			}
		}
	}
	return nil
}

// alone returns an error when another line of the cell makes a main function too.
func (b *Block) alone(rows []string) *Error {
	for i, row := range rows {
		switch word := head(row); word {
		case "%%", "%main", "%exec", "%test", "%wasm":
			return &Error{Line: i + 1, Source: trim(row), Word: word, Detail: fmt.Sprintf("%s and %%%%amp cannot both say how the cell runs", word), Fix: "remove one of them"}
		}
	}
	return nil
}

// runnable tells whether the cell's rows after the %%amp line are statements. Where they are not, the compiler is to say so about
// a cell that looks as the user knows it.
func (b *Block) runnable(rows []string) bool {
	body := strings.Builder{}
	for _, row := range rows[b.Index+b.Rows:] {
		if r := trim(row); strings.HasPrefix(r, "%") || strings.HasPrefix(r, "!") {
			row = ""
		}
		body.WriteString(row + "\n")
	}
	_, err := parser.ParseFile(token.NewFileSet(), "", "package p\nfunc _() { func() {\n"+body.String()+"\n}() }\n", parser.SkipObjectResolution)
	return err == nil
}
