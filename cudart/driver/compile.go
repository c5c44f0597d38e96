package driver

import (
	"encoding/hex"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// A Source is CUDA C++ to be compiled at run time.
type Source struct {
	Name    string            // in diagnostics; "kernel.cu" if it is empty
	Text    string            // the program
	Headers map[string]string // what it includes, by the name in #include; there is no file system
	Options []string          // such as "--use_fast_math", "-DTILE=64", "--std=c++17"; not the architecture
	Arch    int               // the device's Properties.Capability: 90 for sm_90
}

// Code is a compiled Source.
type Code struct {
	Image       []byte // a cubin, or PTX where the device is newer than the compiler: for LoadModule
	Log         string // the compiler's, with its warnings
	Diagnostics []Diagnostic
	Cached      bool  // it was not compiled now
	CacheError  error // why it could not be kept for the next time, if it could not
}

// A Diagnostic is one message of the compiler.
type Diagnostic struct {
	File     string
	Line     int    // 1 is the first; 0 if the message has no place
	Severity string // "error", "catastrophic error", "warning", "remark" or "note"
	Code     string // such as "#177-D", often empty
	Text     string
	Source   string // the line that it is about, as the compiler shows it
}

func (d Diagnostic) String() string {
	s := d.Severity + ": " + d.Text
	if d.Line > 0 {
		s = fmt.Sprintf("%s:%d: %s", d.File, d.Line, s)
	}
	if d.Source != "" {
		s += "\n\t" + strings.TrimSpace(d.Source)
	}
	return s
}

// A CompileError is a Source that the compiler refused.
type CompileError struct {
	Name        string
	Diagnostics []Diagnostic
	Log         string // all that the compiler said
}

// Error lists the errors, one per line, each with its place; the whole log if none of it was understood.
func (e *CompileError) Error() string {
	var lines []string
	for _, d := range e.Diagnostics {
		if strings.HasSuffix(d.Severity, "error") {
			lines = append(lines, d.String())
		}
	}
	if len(lines) == 0 {
		return e.Name + " does not compile:\n" + e.Log
	}
	return e.Name + " does not compile:\n" + strings.Join(lines, "\n")
}

func (s *Source) file() string {
	if s.Name == "" {
		return "kernel.cu"
	}
	return s.Name
}

// headers returns the names and texts of the headers, sorted by name.
func (s *Source) headers() (names, texts []string) {
	names = slices.Sorted(maps.Keys(s.Headers))
	for _, n := range names {
		texts = append(texts, s.Headers[n])
	}
	return names, texts
}

// key names what a compiler makes of the source; everything that it depends on is in it. The 128 bits guard against chance, not against
// who may write to the user's folder anyway, and cost a cell nothing to link.
func (s *Source) key(compiler, target string) string {
	h := fnv.New128a()
	names, texts := s.headers()
	for _, list := range [][]string{{compiler, target, s.file(), s.Text}, s.Options, names, texts} {
		fmt.Fprintf(h, "%d:", len(list))
		for _, v := range list {
			fmt.Fprintf(h, "%d:%s", len(v), v)
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

// placed reads "FILE(LINE): SEVERITY #CODE: TEXT", the code left out or not.
func placed(line string) (d Diagnostic, ok bool) {
	for from := 0; ; {
		i := strings.Index(line[from:], "): ")
		if i < 0 {
			return d, false
		}
		i += from
		from = i + 1
		open := strings.LastIndexByte(line[:i], '(')
		if open < 0 {
			continue
		}
		n, err := strconv.ParseUint(line[open+1:i], 10, 31)
		what, text, colon := strings.Cut(line[i+3:], ": ")
		if err != nil || !colon {
			continue
		}
		d = Diagnostic{File: line[:open], Line: int(n), Text: text}
		d.Severity, d.Code, _ = strings.Cut(what, " #")
		if d.Code != "" {
			d.Code = "#" + d.Code
		}
		d.Severity = strings.ToLower(d.Severity) // of the limit on parameters NVRTC says "Error"
		switch d.Severity {
		case "catastrophic error", "error", "warning", "remark", "note":
			return d, true
		}
	}
}

// unplaced reads what a tool says of no line: "ptxas fatal   : TEXT", "At end of source: error: TEXT".
func unplaced(line string) (d Diagnostic, ok bool) {
	const end = "At end of source: error: "
	if text, ok := strings.CutPrefix(line, end); ok {
		return Diagnostic{Severity: "error", Text: text + " at the end of the source"}, true
	}
	if !strings.HasPrefix(line, "nvrtc") && !strings.HasPrefix(line, "ptxas") && !strings.HasPrefix(line, "nvlink") {
		return d, false
	}
	for at := 0; at < len(line); at++ {
		colon := strings.IndexByte(line[at:], ':')
		if colon < 0 {
			return d, false
		}
		at += colon
		said := strings.TrimRight(line[:at], " ")
		for _, severity := range []string{"fatal", "error", "warning"} {
			if strings.HasSuffix(said, " "+severity) {
				return Diagnostic{Severity: strings.Replace(severity, "fatal", "error", 1), Text: strings.TrimSpace(line[at+1:])}, true
			}
		}
	}
	return d, false
}

// parseLog reads the compiler's messages: a line with the place, then lines that carry the message on, the source line and a caret
// under it, and an empty line.
func parseLog(log string) []Diagnostic {
	var out []Diagnostic
	var more []string // the lines of the last message
	flush := func() {
		if n := len(more); n >= 2 && strings.TrimSpace(more[n-1]) == "^" {
			out[len(out)-1].Source = strings.TrimPrefix(more[n-2], "  ")
			more = more[:n-2]
		}
		for _, line := range more {
			out[len(out)-1].Text += " " + strings.TrimSpace(line)
		}
		more = nil
	}
	open := false
	for line := range strings.Lines(log) {
		line = strings.TrimRight(line, "\r\n")
		if d, ok := placed(line); ok {
			flush()
			out = append(out, d)
			open = true
		} else if d, ok := unplaced(line); ok {
			flush()
			out = append(out, d)
			open = false
		} else if strings.TrimSpace(line) == "" {
			flush()
			open = false
		} else if open {
			more = append(more, line)
		}
	}
	flush()
	return out
}
