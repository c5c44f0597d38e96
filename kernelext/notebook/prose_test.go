package notebook_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/widgets"
)

// TestTutorialNumbers finds every number of a tutorial's text in what its saved cells show (printed lines and figures as text), in their
// code, or among the constants of the formats. What no cell can show is listed in given, with the reason. TestTutorialsRun looks for
// the same numbers in what the cells show when they are run.
func TestTutorialNumbers(t *testing.T) {
	for _, path := range tutorials(t) {
		name := strings.TrimSuffix(filepath.Base(path), ".ipynb")
		t.Run(name, func(t *testing.T) {
			nb, _ := load(t, path)
			checkNumbers(t, name, nb)
			text := prose(nb)
			for n, why := range given[name] {
				if why == "" || !strings.Contains(text, n) {
					t.Errorf("given: %q is not in the text, or has no reason", n)
				}
			}
		})
	}
}

// checkNumbers looks for the numbers of the text of a notebook in its cells.
func checkNumbers(t *testing.T, name string, nb saved) {
	t.Helper()
	known := constants()
	for _, c := range nb.Cells {
		if c.CellType == "code" {
			known = append(known, numbers(strings.Join(c.Source, ""))...)
			known = append(known, numbers(seen(t, c.Outputs))...)
		}
	}
	for _, c := range nb.Cells {
		if c.CellType != "markdown" {
			continue
		}
		for _, n := range numbers(plain(strings.Join(c.Source, ""))) {
			if _, ok := given[name][n.text]; !ok && !n.among(known) {
				t.Errorf("cell %s: no cell shows the number %s", c.ID, n.text)
			}
		}
	}
}

// given are numbers that tutorials set instead of finding them, with the reason.
var given = map[string]map[string]string{
	"01-first-amp-training": {
		"10⁻⁷": "the reader is asked to multiply by it",
		"10⁷":  "the reader is asked to multiply by it",
	},
	"02-floating-point": {
		"300²":    "the square of a mean that the cell sets",
		"100,000": "how many numbers the reader is asked to draw",
	},
	"04-autocast": {
		"10⁻⁸": "Adam's default",
	},
	"06-bfloat16-float16": {
		"2²⁰":   "twenty doublings",
		"4095":  "the last of 4096 positions",
		"7.0":   "a compute capability",
		"8.0":   "a compute capability",
		"0.002": "half of the gap below 1",
	},
	"03-fp16-underflow": {
		"2¹⁰": "1000, nearly: from meters to millimeters",
		"2¹⁴": "2^33 / 2^19, both of which cells show",
	},
	"09-cuda-kernels": {
		"100,001": "one more than the tensor has",
		"256":     "threads of a block in cudart.For, and in the answer's code",
		"8.0":     "the compute capability that mma.m16n8k16 needs",
	},
}

// seen is what a reader sees of outputs: printed lines, and figures as text with the numbers of their data.
func seen(t *testing.T, outputs []output) string {
	t.Helper()
	b := strings.Builder{}
	for _, o := range outputs {
		b.WriteString(strings.Join(o.Text, "") + "\n")
		if raw, ok := o.Data[widgets.MIME]; ok {
			text, err := json.Marshal(raw)
			if err != nil {
				t.Fatal(err)
			}
			f, err := widgets.Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			b.WriteString(f.Text())
		}
		if lines, ok := o.Data["text/plain"].([]any); ok {
			for _, l := range lines {
				fmt.Fprint(&b, l)
			}
			b.WriteString("\n")
		}
	}
	return b.String()
}

var (
	fences   = regexp.MustCompile("(?s)```.*?```")
	spans    = regexp.MustCompile("`[^`\n]*`")
	targets  = regexp.MustCompile(`\]\([^)]*\)`)
	headings = regexp.MustCompile(`(?m)^#+ .*$`)
	items    = regexp.MustCompile(`(?m)^ *\d+\. `)
	sections = regexp.MustCompile(`\b([Ss]ections?|[Tt]utorials?|[Ss]teps?|[Bb]atch|[Bb]lock|[Qq]uestions?|[Ee]xercises?) \d+\b`)
	tags2    = regexp.MustCompile(`<[^>]*>`)
)

// plain is a text without code, links' targets, headings and numbers that only count its parts.
func plain(markdown string) string {
	for _, r := range []*regexp.Regexp{fences, spans, targets, headings, items, sections, tags2} {
		markdown = r.ReplaceAllString(markdown, " ")
	}
	return markdown
}

var link = regexp.MustCompile(`\[[^\]]+\]\(([^)\s]+)\)|(?:src|href)="([^"]+)"`)

// TestTutorialLinks finds what the texts link to: files of the repository; of the network they name https addresses only.
func TestTutorialLinks(t *testing.T) {
	for _, path := range tutorials(t) {
		nb, _ := load(t, path)
		for _, m := range link.FindAllStringSubmatch(fences.ReplaceAllString(prose(nb), ""), -1) {
			to := m[1] + m[2]
			switch {
			case strings.HasPrefix(to, "https://"), strings.HasPrefix(to, "data:"):
			case strings.Contains(to, "://"), strings.HasPrefix(to, "/"), strings.HasPrefix(to, "#"):
				t.Errorf("%s links to %s: use https, or a path from the notebook", filepath.Base(path), to)
			default:
				file, _, _ := strings.Cut(to, "#")
				if _, err := os.Stat(filepath.Join(filepath.Dir(path), filepath.FromSlash(file))); err != nil {
					t.Errorf("%s links to %s: %v", filepath.Base(path), to, err)
				}
			}
		}
	}
}

// misspell is the spelling checker, a program of its own so that the module does not need it.
const misspell = "github.com/golangci/misspell/cmd/misspell@v0.8.0"

// TestTutorialSpelling looks for words that are often spelled wrongly, and for British spelling, in texts and in comments of cells.
func TestTutorialSpelling(t *testing.T) {
	dir := t.TempDir()
	var files []string
	for _, path := range tutorials(t) {
		nb, _ := load(t, path)
		text := prose(nb)
		for _, c := range nb.Cells {
			if c.CellType == "code" {
				text += strings.Join(c.Source, "") + "\n\n"
			}
		}
		file := filepath.Join(dir, strings.TrimSuffix(filepath.Base(path), ".ipynb")+".md")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	probe := filepath.Join(dir, "probe.md") // that it finds something at all
	if err := os.WriteFile(probe, []byte("A seperate colour.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"run", misspell, "-locale", "US", probe}, files...)...)
	cmd.Dir = dir // outside of any module
	out, err := cmd.CombinedOutput()
	if err != nil && regexp.MustCompile(`dial tcp|no such host|i/o timeout|connection refused|module lookup disabled`).Match(out) {
		t.Skipf("needs %s, which cannot be downloaded: %s", misspell, out)
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	found := 0
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, "probe.md") {
			found++
		} else if strings.Contains(line, dir) {
			t.Error(strings.TrimSpace(strings.ReplaceAll(line, dir+string(filepath.Separator), "")))
		}
	}
	if found != 2 {
		t.Errorf("of the two mistakes in a sample it finds %d:\n%s", found, out)
	}
}
