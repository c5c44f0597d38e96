// Package cell runs the body of a %%amp cell: the kernel puts a call of Run around it. A program of one's own can do the same:
//
//	cell.Run(cell.Options{DType: "float16"}, func(s, half *amp.Scope) { … })
package cell

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/internal/wholefile"
	"github.com/halftone-ml/halftone/widgets"
)

// Options are what the %%amp line said.
type Options struct {
	DType string   // "float16", "bfloat16", or "off" for no autocast
	Trace string   // level of the recorder; "": what amp.NewScope takes by itself
	Every int      // at level health, and for the figures "flow" and "rounding", look at every n-th step; 0: as amp.NewScope, and for those the first alone
	FP8   string   // "tensor", "row" or "block": linear layers read 8 bits with such scales (amp.FP8); "": they do not
	FP4   string   // "nv" or "mx": linear layers read 4 bits, NVFP4 or MXFP4 (amp.FP4); "": they do not
	Show  []string // figures to show: "decisions", "scale", "exponents", "flow", "rounding"; nil: what there is to show
}

// UsageEnv names the variable by which a kernel tells where the program leaves what it used, as JSON.
const UsageEnv = "HALFTONE_USAGE"

// How long a body may take to end after an interrupt before its figures are shown without it: in a loop of Steps, whose present
// step is finished first, and elsewhere. GoNB kills a program that takes five seconds.
const (
	stepGrace = 3 * time.Second
	grace     = 500 * time.Millisecond
)

// A run is one body with its scopes.
type run struct {
	o     Options
	s     *amp.Scope
	start time.Time
	once  sync.Once
	whole bool // the body returned
}

// Run calls body with a root scope s and the same under autocast, half, and shows the figures when it ends: by returning, by a
// panic, which goes on afterwards, or by an interrupt. An interrupt ends the loops of s.Steps after the step that runs, and what
// follows them runs; a body that goes on all the same, or that has no such loop, is cut off. Run panics with amp.ErrArgument for
// a dtype, level or granularity that is none.
func Run(o Options, body func(s, half *amp.Scope)) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	r := &run{o: o, start: time.Now()}
	r.s = amp.NewScope(r.options(ctx)...)
	s, half := r.scopes()
	signals, ended := make(chan os.Signal, 2), make(chan struct{})
	signal.Notify(signals, syscall.SIGINT)
	go r.watch(signals, ended, cancel)
	defer func() { // without recover: a panic keeps the stack of its place
		close(ended)
		r.finish()
		if r.whole {
			r.s.Close() // a session commits then; what a panic left half done is not kept
		}
	}()
	body(s, half)
	r.whole = true
}

// scopes are what the body gets. Autocast is off in s, but its dtype is set: step.Autocast(amp.NoDType) is the cell's.
func (r *run) scopes() (s, half *amp.Scope) {
	d := amp.Float32
	if r.o.DType != "off" {
		var err error
		if d, err = amp.ParseDType(r.o.DType); err != nil {
			panic(&amp.Error{Op: "cell.Run", Kind: amp.ErrArgument, Detail: err.Error(), Fix: `use "float16", "bfloat16" or "off"`})
		}
	}
	off := []amp.AutocastOption{amp.Enabled(false)}
	if r.o.FP8 != "" {
		off = append(off, amp.FP8(&amp.FP8Recipe{Granularity: r.granularity()}))
	}
	if r.o.FP4 != "" {
		r.fits4Bits()
		off = append(off, amp.FP4(&amp.FP4Recipe{MX: r.o.FP4 == "mx"}))
	}
	s = r.s.Autocast(d, off...)
	if r.o.DType == "off" {
		return s, s
	}
	return s, s.Autocast(d, amp.Enabled(true))
}

// granularity is that of FP8.
func (r *run) granularity() amp.Granularity {
	g, err := amp.ParseGranularity(r.o.FP8)
	switch {
	case err == nil && g > amp.PerBlock:
		refuse("a scale per "+r.o.FP8+" is for 4 bits", `use FP4 "nv"`)
	case err != nil:
		refuse(err.Error(), `leave FP8 out for products in 16 bits`)
	case r.o.DType == "off":
		refuse("FP8 without autocast", `use DType "bfloat16" or "float16"`)
	}
	return g
}

// fits4Bits refuses what FP4 does not go with.
func (r *run) fits4Bits() {
	switch {
	case r.o.FP4 != "nv" && r.o.FP4 != "mx":
		refuse(fmt.Sprintf("unknown format of 4 bits %q", r.o.FP4), `use "nv" or "mx", or leave FP4 out`)
	case r.o.FP8 != "":
		refuse("both FP8 and FP4", "use one of them")
	case r.o.DType == "off":
		refuse("FP4 without autocast", `use DType "bfloat16" or "float16"`)
	}
}

// refuse panics over options that Run does not take.
func refuse(detail, fix string) {
	panic(&amp.Error{Op: "cell.Run", Kind: amp.ErrArgument, Detail: detail, Fix: fix})
}

func (r *run) options(ctx context.Context) []amp.Option {
	opts := []amp.Option{amp.WithContext(ctx)}
	if r.o.Trace != "" {
		level, err := amp.ParseLevel(r.o.Trace)
		if err != nil {
			panic(&amp.Error{Op: "cell.Run", Kind: amp.ErrArgument, Detail: err.Error(), Fix: `use "off", "decisions" or "health"`})
		}
		opts = append(opts, amp.Record(level))
	}
	if r.o.Every > 0 {
		opts = append(opts, amp.HealthEvery(r.o.Every))
	}
	if slices.Contains(r.o.Show, "flow") {
		opts = append(opts, amp.RecordGradients(r.o.Every))
	}
	if slices.Contains(r.o.Show, "rounding") {
		opts = append(opts, amp.RecordRounding(r.o.Every))
	}
	return opts
}

// watch cancels the scope at an interrupt. When the body does not end in time, or at a second interrupt, it shows the figures and
// ends the program as an interrupt does.
func (r *run) watch(signals chan os.Signal, ended chan struct{}, cancel func()) {
	select {
	case <-signals:
	case <-ended:
		return
	}
	patience := grace
	if r.s.Trace().Steps > 0 {
		patience = stepGrace
		fmt.Fprintln(os.Stderr, "Interrupted: the loop ends with this step, and what follows it runs. Interrupt again to end the cell at once.")
	}
	cancel()
	select {
	case <-ended:
		return
	case <-signals:
	case <-time.After(patience):
	}
	r.finish()
	signal.Reset(syscall.SIGINT)
	_ = syscall.Kill(os.Getpid(), syscall.SIGINT)
	time.Sleep(time.Second)
	os.Exit(130) // the program was started with interrupts ignored, which nothing has undone
}

// finish shows the figures and leaves what was used, once.
func (r *run) finish() {
	r.once.Do(func() {
		r.report()
		if r.o.DType != "off" && outside(r.s.Trace()) {
			fmt.Fprintf(os.Stderr, "%%%%amp %s: no op ran under autocast; pass half where it should, and in s.Steps step.Autocast(amp.NoDType)\n", r.o.DType)
		}
		widgets.Show(r.figures()...)
	})
}

// outside says that forward ops were recorded, none of them under autocast.
func outside(t *amp.Trace) bool {
	ran := false
	for _, e := range t.Events {
		if e.Autocast != amp.NoDType {
			return false
		}
		ran = ran || e.Phase == amp.PhaseForward
	}
	return ran
}

// figures are those asked for, or what there is to show.
func (r *run) figures() []*widgets.Figure {
	trace := r.s.Trace()
	want := r.o.Show
	scalers := r.s.Scalers()
	if want == nil {
		if trace.Level != amp.Off.String() {
			want = append(want, "decisions")
		}
		if len(scalers) > 0 {
			want = append(want, "scale")
		}
		if trace.Level == amp.Health.String() {
			want = append(want, "exponents")
		}
	}
	// What failed before its first op has nothing to draw, and its error is what is to be read.
	if trace.Level != amp.Off.String() && len(trace.Events) == 0 && !r.whole {
		want = slices.DeleteFunc(slices.Clone(want), func(name string) bool { return name == "decisions" || name == "exponents" })
	}
	var figs []*widgets.Figure
	for _, name := range want {
		switch name {
		case "decisions":
			figs = append(figs, widgets.Decisions(trace))
		case "scale":
			if len(scalers) == 0 {
				fmt.Fprintln(os.Stderr, "--show scale: no GradScaler scaled a loss in this cell's scopes, so there is no history to show")
			}
			for _, h := range r.histories() {
				figs = append(figs, widgets.ScaleHistory(h))
			}
		case "exponents":
			figs = append(figs, widgets.Exponents(trace, r.histories()...))
		case "flow":
			figs = append(figs, r.flows()...)
		case "rounding":
			figs = append(figs, r.roundings()...)
		}
	}
	return figs
}

// maxPasses bounds the figures of a step that calls Backward many times, as one that accumulates gradients does.
const maxPasses = 3

// passes returns what there is of the backward passes of the newest step that was looked at; step is that of the first, and none says what it means if there
// is nothing.
func passes[T any](figure string, traces []T, step func(T) int, none string) []T {
	switch n := len(traces); {
	case n == 0:
		fmt.Fprintf(os.Stderr, "--show %s: no Backward of a loss of this cell's scopes ran in a step that was looked at, so %s\n", figure, none)
	case n > maxPasses:
		fmt.Fprintf(os.Stderr, "--show %s: step %d has %d backward passes; the first %d are shown\n", figure, step(traces[0]), n, maxPasses)
		traces = traces[:maxPasses]
	}
	return traces
}

// flows are the gradients' ways in the backward passes of the newest step that was looked at.
func (r *run) flows() (figs []*widgets.Figure) {
	// A run without a scaler still has a number of steps, of which the figure is about one.
	histories := append(r.histories(), amp.ScaleHistory{Nominal: r.s.Trace().Steps})
	for _, t := range passes("flow", r.s.GradientTraces(), func(t *amp.GradientTrace) int { return t.Step }, "there are no gradients to follow") {
		figs = append(figs, widgets.GradientFlow(t, histories...))
	}
	return figs
}

// roundings are what rounding did to the losses of those backward passes.
func (r *run) roundings() (figs []*widgets.Figure) {
	for _, t := range passes("rounding", r.s.RoundingTraces(), func(t *amp.RoundingTrace) int { return t.Step }, "there is no loss to hold against float64") {
		figs = append(figs, widgets.Rounding(t))
	}
	return figs
}

// histories are those of the scalers that scaled a loss of the cell.
func (r *run) histories() (all []amp.ScaleHistory) {
	for _, g := range r.s.Scalers() {
		all = append(all, g.History())
	}
	return all
}

// report leaves what the program used for %amp status. Nothing depends on it.
func (r *run) report() {
	file := os.Getenv(UsageEnv)
	if file == "" {
		return
	}
	peak := map[string]int64{}
	stats := amp.MemStats()
	for _, name := range slices.Sorted(maps.Keys(stats)) {
		peak[name] = stats[name].Peak
	}
	b, err := json.Marshal(map[string]any{"seconds": time.Since(r.start).Seconds(), "peak": peak, "steps": r.s.Trace().Steps})
	if err == nil {
		_ = wholefile.Replace(file, b, 0o600)
	}
}
