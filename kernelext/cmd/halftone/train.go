package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/kernelext/install"
	"github.com/halftone-ml/halftone/kernelext/train"
)

func trainModel(ctx context.Context, args []string) error {
	fs := flags("train", "resnet18 | gpt", "Trains ResNet-18 on 32×32 images or a small GPT on source text, and tests it. With several precisions it trains one after\nanother from the same start and prints them side by side. Data comes from this machine: drawn characters, Go's own source.")
	var c train.Config
	precisions := fs.String("precision", "float32,float16", "float32, float16, bfloat16, or for gpt fp8, fp8-row or fp8-block (8 bits in bfloat16, a scale per tensor, row or block), nvfp4 or mxfp4 (4 bits in bfloat16); several, separated by commas, are compared")
	fs.StringVar(&c.Device, "device", "cpu", "where to train: cpu, cuda:0 or auto")
	fs.StringVar(&c.Data, "data", "", "a folder of CIFAR-10 (binary version), or a text file")
	fs.IntVar(&c.Steps, "steps", 0, "training steps (default 700 for resnet18, 1800 for gpt)")
	fs.IntVar(&c.Batch, "batch", 0, "samples in a step (default 64 for resnet18, 16 for gpt)")
	fs.IntVar(&c.Width, "width", 0, "channels of ResNet's first stage (default 16, so that it fits a laptop; 64 is the paper's), or features of the GPT (default 128)")
	fs.Float64Var(&c.LR, "lr", 0, "peak learning rate (default 0.002 for resnet18, 0.003 for gpt)")
	fs.Uint64Var(&c.Seed, "seed", 1, "seed of weights and order; the same one repeats a run bit for bit")
	fs.StringVar(&c.Save, "save", "", "write a checkpoint to this file at the end, and when interrupted")
	fs.StringVar(&c.Resume, "resume", "", "go on from this checkpoint")
	asJSON := fs.Bool("json", false, "print the results as JSON")
	names, err := interleaved(fs, args)
	if err != nil {
		return err
	}
	if len(names) != 1 {
		return wrongCall("name one model: halftone train resnet18, or halftone train gpt")
	}
	if err := noZeros(fs); err != nil {
		return err
	}
	c.Model = names[0]
	configs, err := inPrecisions(c, *precisions)
	if err != nil {
		return callError{err}
	}
	if len(configs) > 1 && (c.Save != "" || c.Resume != "") {
		return wrongCall("a checkpoint belongs to one precision: add for example --precision float16")
	}
	out := io.Writer(os.Stdout)
	if *asJSON {
		out = os.Stderr
	}
	var results []train.Result
	for _, c := range configs {
		r, err := trainOne(ctx, c, out)
		if err != nil {
			if errors.Is(err, context.Canceled) && c.Save != "" {
				fmt.Fprintf(os.Stderr, "step %d of %d is saved in %s; go on with\n  %s\n", r.Steps, r.Config.Steps, c.Save, goOn(fs, c))
			}
			return deviceError(err, c.Device)
		}
		results = append(results, r)
	}
	if *asJSON {
		return printJSON(results)
	}
	return printResults(stdout, results)
}

// precisions are those that runs can have, but for their steps.
var precisions = []train.Config{{Precision: amp.Float32}, {Precision: amp.Float16}, {Precision: amp.BFloat16},
	{Precision: amp.BFloat16, FP8: amp.PerTensor.String()}, {Precision: amp.BFloat16, FP8: amp.PerRow.String()}, {Precision: amp.BFloat16, FP8: amp.PerBlock.String()},
	{Precision: amp.BFloat16, FP4: "nv"}, {Precision: amp.BFloat16, FP4: "mx"}}

// inPrecisions returns c in each precision of a list such as "float32,float16".
func inPrecisions(c train.Config, list string) ([]train.Config, error) {
	var out []train.Config
	for name := range strings.SplitSeq(list, ",") {
		name = strings.TrimSpace(name)
		k := slices.IndexFunc(precisions, func(p train.Config) bool { return name == p.Name() || p.FP8+p.FP4 == "" && name == p.Precision.Short() })
		if k < 0 {
			var known []string
			for _, p := range precisions {
				known = append(known, p.Name())
			}
			return nil, fmt.Errorf("there is no precision %q; use %s, several separated by commas", name, strings.Join(known, ", "))
		}
		c.Precision, c.FP8, c.FP4 = precisions[k].Precision, precisions[k].FP8, precisions[k].FP4
		if _, err := c.Complete(); err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}

// trainOne trains in one precision behind a progress bar; where there is no terminal, a line appears for every tenth of the way.
func trainOne(ctx context.Context, c train.Config, out io.Writer) (r train.Result, err error) {
	f, isFile := out.(*os.File)
	tty := isFile && install.IsTerminal(f)
	report := install.NewReporter(out)
	err = report.Phase(fmt.Sprintf("%s %s", c.Model, c.Name()), func(p *install.Progress) (string, error) {
		tenth := 0
		r, err = train.Run(ctx, c, func(t train.Progress) {
			p.Bar(t.Step, t.Steps)
			line := describe(t)
			p.Status("%s", line)
			if now := 10 * t.Step / t.Steps; !tty && now > tenth {
				tenth = now
				fmt.Fprintf(out, "  step %d of %d: %s\n", t.Step, t.Steps, line)
			}
		})
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("%d steps, %s", r.Steps, score(r)), nil
	})
	return r, err
}

// describe words where a run stands.
func describe(t train.Progress) string {
	text := fmt.Sprintf("loss %.3f, %s left, %s a step", t.Loss, t.Left.Round(time.Second), t.StepTime.Round(time.Millisecond))
	if t.Scale != 1 {
		text += fmt.Sprintf(", scale %g", t.Scale)
	}
	if t.Skipped > 0 {
		text += fmt.Sprintf(", %d skipped", t.Skipped)
	}
	return text
}

// score is the result in the unit that the model is judged by.
func score(r train.Result) string {
	if r.Metric == "accuracy" {
		return fmt.Sprintf("accuracy %.2f %%", r.Value)
	}
	return fmt.Sprintf("%.3f %s", r.Value, r.Metric)
}

// printResults sets the precisions side by side.
func printResults(w io.Writer, results []train.Result) error {
	tw := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	row := func(name string, f func(r train.Result) string) {
		fmt.Fprint(tw, name)
		for _, r := range results {
			fmt.Fprint(tw, "\t", f(r))
		}
		fmt.Fprintln(tw)
	}
	fmt.Fprintf(w, "\n%s, %d parameters\n\n", results[0].Config.Model, results[0].Parameters)
	for _, r := range results {
		fmt.Fprint(tw, "\t", r.Config.Name())
	}
	fmt.Fprintln(tw)
	row(results[0].Metric, func(r train.Result) string { return fmt.Sprintf("%.3f", r.Value) })
	if results[0].Value != results[0].Loss {
		row("loss held out", func(r train.Result) string { return fmt.Sprintf("%.4f", r.Loss) })
	}
	row("steps applied", func(r train.Result) string { return fmt.Sprintf("%d of %d", r.Steps-r.Skipped, r.Steps) })
	row("loss scale", func(r train.Result) string { return fmt.Sprintf("%g", r.Scale) })
	row("step, median", func(r train.Result) string { return r.StepTime.Round(time.Millisecond).String() })
	row("peak memory", func(r train.Result) string { return fmt.Sprintf("%.1f MB", float64(r.Peak)/1e6) })
	if err := tw.Flush(); err != nil {
		return err
	}
	for _, r := range results {
		if r.Sample != "" {
			fmt.Fprintf(w, "\n%s writes:\n%s\n", r.Config.Name(), r.Sample)
		}
	}
	return nil
}

func printJSON(results []train.Result) error {
	byName := map[string]train.Result{}
	for _, r := range results {
		byName[r.Config.Name()] = r
	}
	e := json.NewEncoder(stdout)
	e.SetIndent("", "  ")
	return e.Encode(byName)
}
