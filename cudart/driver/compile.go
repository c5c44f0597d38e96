package driver

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"regexp"
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

// key names what a compiler makes of the source; everything that it depends on is in it.
func (s *Source) key(compiler, target string) string {
	h := sha256.New()
	names, texts := s.headers()
	for _, list := range [][]string{{compiler, target, s.file(), s.Text}, s.Options, names, texts} {
		fmt.Fprintf(h, "%d:", len(list))
		for _, v := range list {
			fmt.Fprintf(h, "%d:%s", len(v), v)
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

var (
	placed   = regexp.MustCompile(`^(.*)\((\d+)\): (catastrophic error|error|warning|remark|note)( #[0-9]+(?:-D)?)?: (.*)$`)
	unplaced = regexp.MustCompile(`^(?:nvrtc|ptxas|nvlink)\b.*?\b(fatal|error|warning) *: *(.*)$`)
)

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
		if m := placed.FindStringSubmatch(line); m != nil {
			flush()
			n, _ := strconv.Atoi(m[2])
			out = append(out, Diagnostic{File: m[1], Line: n, Severity: m[3], Code: strings.TrimSpace(m[4]), Text: m[5]})
			open = true
		} else if m := unplaced.FindStringSubmatch(line); m != nil {
			flush()
			out = append(out, Diagnostic{Severity: strings.Replace(m[1], "fatal", "error", 1), Text: strings.TrimSpace(m[2])})
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
