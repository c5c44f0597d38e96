package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/halftone-ml/halftone/internal/wholefile"
)

// report is the results as a section of cudart/RESULTS.md: what was seen, with its date, machine and command, and what was not measured.
func (st *state) report() []byte {
	var b bytes.Buffer
	p := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	day, _, _ := strings.Cut(st.Began, " ")
	if st.Device.Emulated {
		p("## A rehearsal on the emulator, %s: nothing here was measured\n", day)
	} else {
		p("## %s: %s\n", day, st.Device.Name)
	}
	p("%s, %.0f GiB, capability %s, driver %s, %s. Begun %s. `make gpu-bundle` at commit %s; there `%s`. A figure is a median, and the median over",
		st.Device.Name, float64(st.Device.Memory)/(1<<30), st.Device.Capability, st.Device.Driver, st.Peer, st.Began, st.Commit, strings.Join(st.Calls, "`, then `"))
	p("the rounds; a ratio is ours by PyTorch's: of kernels and copies the median over rounds that both took in turn. Libraries: %s.\n", strings.Join(append(st.Found, "no others"), ", "))

	p("| tests | %s |\n|---|---|---|---|---|---|", "ended | passed | failed | skipped | s")
	var remarks []string
	for _, e := range st.Entries {
		if e.Side == tests {
			p("| %s | %s | %d | %d | %d | %.1f |", e.Stage, e.ended(), e.Passed, e.Failed, e.Skipped, e.Seconds)
			for _, why := range sameReasons(e.Why) {
				remarks = append(remarks, strings.TrimPrefix(e.Stage, "tests of ")+": "+why)
			}
		}
	}
	for _, e := range st.Entries {
		if e.Side == checker && e.Status != missing {
			remarks = append(remarks, fmt.Sprintf("compute-sanitizer, %s: %s in %.0f s: %s", e.Stage, e.ended(), e.Seconds, strings.Join(e.Why, "; ")))
		}
	}
	if st.OnlyOne != "" {
		remarks = append(remarks, st.OnlyOne)
	}
	list(&b, "", remarks)

	p("\n### Bars\n")
	writeBars(&b, st.medians())
	list(&b, "\n### Not measured\n", append(st.notMeasured(), st.apart()...))
	p("\n### Figures\n")
	if st.Device.Emulated {
		p("%d figures of Halftone and %d of PyTorch were taken; the emulator's times mean nothing.", st.count(ours), st.count(peer))
		return b.Bytes()
	}
	p("%s\n", defaults)
	rows := &rowSet{}
	for _, f := range st.figures {
		rows.add(f.figure, f.Side)
	}
	rows.besideTuned()
	rows.write(&b)
	return b.Bytes()
}

// defaults is what PyTorch's steps are of.
const defaults = "PyTorch takes its steps as it does by default: images with channels before places (NCHW), torch.backends.cudnn.benchmark off, optimizers that are not fused. " +
	"Those named tuned are with cudnn.benchmark on, a fused optimizer, and for ResNet channels last where that was the faster; ours beside them are the same as above."

// ended says what a stage has come to. Where the page says that it runs, nobody wrote another: it was cut off with the run.
func (e *entry) ended() string {
	switch {
	case e.Status == cut && e.Attempts >= attempts:
		return string(cut) + " twice"
	case e.Status == running:
		return string(cut)
	}
	return string(e.Status)
}

// sameReasons names the tests that were skipped for one reason at once.
func sameReasons(why []string) (lines []string) {
	at := map[string]int{} // of a reason's line
	for _, w := range why {
		test, reason, ok := strings.Cut(w, skippedFor)
		if i, there := at[reason]; ok && there {
			names, _, _ := strings.Cut(lines[i], skippedFor)
			lines[i] = names + ", " + test + skippedFor + reason
			continue
		}
		if ok {
			at[reason] = len(lines)
		}
		lines = append(lines, w)
	}
	return lines
}

func list(b *bytes.Buffer, title string, lines []string) {
	if len(lines) == 0 {
		return
	}
	fmt.Fprintln(b, title)
	for _, l := range lines {
		fmt.Fprintf(b, "- %s\n", strings.ReplaceAll(l, "\n", " "))
	}
}

// notMeasured says what the stages did not come to.
func (st *state) notMeasured() (lines []string) {
	why := map[string][]string{}
	var order []string
	for _, s := range st.planned {
		reason := "not run"
		if e := st.entryOf(s.name); e != nil {
			switch {
			case e.Status == done:
				continue
			case e.Side == tests && e.Status == failed:
				continue // the table says it
			}
			reason = e.ended()
			if why := e.wrong(); len(why) > 0 {
				reason += ": " + strings.Join(why[:min(3, len(why))], "; ")
			}
		}
		if why[reason] == nil {
			order = append(order, reason)
		}
		why[reason] = append(why[reason], s.name)
	}
	for _, r := range order {
		lines = append(lines, strings.Join(why[r], "; ")+": "+r)
	}
	return lines
}

// medians are the figures that bars look at: none in a rehearsal.
func (st *state) medians() *figures {
	values := map[side]map[string][]float64{ours: {}, peer: {}, paired: {}}
	for _, f := range st.figures {
		if !st.Device.Emulated {
			values[f.Side][f.Name] = append(values[f.Side][f.Name], f.Value)
		}
	}
	m := &figures{map[string]float64{}, map[string]float64{}, map[string]float64{}}
	for to, from := range map[*map[string]float64]map[string][]float64{&m.ours: values[ours], &m.peer: values[peer], &m.paired: values[paired]} {
		for name, v := range from {
			(*to)[name] = middle(v)
		}
	}
	return m
}

func (st *state) count(s side) (n int) {
	for _, f := range st.figures {
		if f.Side == s {
			n++
		}
	}
	return n
}

// appendReport adds the report of a folder to a file, in the place of the one that the same run had given before.
func appendReport(dir, file string) error {
	st, err := load(dir)
	if err != nil {
		return err
	}
	switch {
	case st.Began == "":
		return fmt.Errorf("%s holds no results", dir)
	case st.Device.Emulated:
		return errors.New("a rehearsal on the emulator is not recorded")
	}
	section, err := os.ReadFile(st.path("results.md"))
	if err != nil {
		return err
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	begun := []byte("Begun " + st.Began + ".")
	parts := slices.DeleteFunc(bytes.SplitAfter(text, []byte("\n## ")), func(p []byte) bool { return bytes.Contains(p, begun) })
	text = bytes.TrimSuffix(bytes.Join(parts, nil), []byte("\n## "))
	return wholefile.Write(file, append(append(bytes.TrimRight(text, "\n"), "\n\n"...), section...), 0o644)
}
