package main

import (
	"fmt"
	"io"
)

// A bar is what a figure is held against: at least, or at most, so much. value says false where a figure is missing.
type bar struct {
	work, unit string
	want       float64
	most       bool // want is the most, else the least
	value      func(f *figures) (float64, bool)
}

// figures are medians by name.
type figures struct{ ours, peer, paired map[string]float64 }

// over is a quotient of two figures.
func over(ours, peer func(f *figures) (float64, bool)) func(f *figures) (float64, bool) {
	return func(f *figures) (float64, bool) {
		a, okA := ours(f)
		b, okB := peer(f)
		return a / b, okA && okB && b != 0
	}
}

func of(name string) func(f *figures) (float64, bool) {
	return func(f *figures) (float64, bool) { v, ok := f.ours[name]; return v, ok }
}

func peers(name string) func(f *figures) (float64, bool) {
	return func(f *figures) (float64, bool) { v, ok := f.peer[name]; return v, ok }
}

// speed is how much faster than the peer ours is: as measured in turn, else by two figures that are the larger the faster.
func speed(name string) func(f *figures) (float64, bool) {
	return inTurn(name, over(of(name), peers(name)))
}

// quickness is the same of two times.
func quickness(name string) func(f *figures) (float64, bool) {
	return inTurn(name, over(peers(name), of(name)))
}

func inTurn(name string, otherwise func(f *figures) (float64, bool)) func(f *figures) (float64, bool) {
	return func(f *figures) (float64, bool) {
		_, mine := f.ours[name]
		_, theirs := f.peer[name]
		if v, ok := f.paired[name]; ok && mine && theirs {
			return v, true
		}
		return otherwise(f)
	}
}

// bars are what Halftone is to reach on a GPU of capability 9.0.
func bars() (list []bar) {
	least := func(work, unit string, want float64, v func(f *figures) (float64, bool)) {
		list = append(list, bar{work, unit, want, false, v})
	}
	for _, t := range []struct{ short, long string }{{"fp16", "float16"}, {"bf16", "bfloat16"}} {
		for _, n := range []string{"4096", "8192"} {
			least(t.short+" gemm "+n+"³", "× torch.mm", 0.98, speed(t.short+" gemm "+n))
			least(t.short+" gemm "+n+"³, own kernel", "× cuBLAS", 0.6, over(of("own gemm "+t.long+" "+n), of("cuBLAS gemm "+t.long+" "+n)))
		}
	}
	for _, name := range []string{"add fp32", "mul fp16", "relu fp16", "gelu fp16", "gelu_tanh fp16", "exp fp32", "tanh fp32", "cast fp32 to fp16", "cast fp16 to fp32",
		"unscale and check fp32", "adam fp32"} {
		// the copy of as many floats, by the same program
		least(name+", 100 M", "× copy bandwidth", 0.85, over(of(name), of("copy on the device, 400 MB")))
		least(name+", 100 M", "× PyTorch's speed", 1, speed(name))
	}
	for _, name := range []string{"softmax fp16 8192×4096", "layer_norm fp16 8192×4096", "cross_entropy fp16 8192×4096"} {
		least(name, "× PyTorch's speed", 1, quickness(name))
	}
	const mlp = "MLP 8-16-16-1 batch 32"
	least(mlp+", eager", "× the speed of PyTorch eager", 2, over(peers(mlp+" step, eager"), of(mlp+" step, eager")))
	least(mlp+", captured", "× the speed of PyTorch eager", 5, over(peers(mlp+" step, eager"), of(mlp+" step, captured")))
	for _, m := range []string{"ResNet-18 32×32 batch 128", "GPT 12×768 8×1024 tokens"} {
		step := m + " step, "
		least(m+", AMP fp16", "× the speed of PyTorch eager", 1, over(peers(step+"eager"), of(step+"eager")))
		least(m+", AMP fp16", "× the speed of PyTorch tuned (no bar)", 0, over(peers(step+"eager"+tuned), of(step+"eager")))
		least(m+", AMP fp16", "× our float32's speed", 2, over(of(step+"float32"), of(step+"eager")))
		least(m+", AMP fp16", "× our float32's speed with TF32 (no bar)", 0, over(of(step+"float32 with TF32"), of(step+"eager")))
		list = append(list, bar{m + ", activation memory", "× our float32's", 0.6, true, over(of(m+" activations, eager"), of(m+" activations, float32"))},
			bar{m + ", with the scaler", "× the time without", 1.01, true, of(m + ", with the scaler by without")})
		least(m+", with the scaler at 1024", "× the time without (no bar)", 0, of(m+", with the scaler at 1024 by without"))
	}
	return append(list, bar{"a warm cell of 10 MLP steps", "ms", 1000, true, of("a cell of 10 MLP steps, warm")})
}

// writeBars writes them as a table.
func writeBars(w io.Writer, f *figures) {
	fmt.Fprintln(w, "| work | measured | bar | |\n|---|---|---|---|")
	for _, b := range bars() {
		v, ok := b.value(f)
		sign, met := "≥", v >= b.want
		if b.most {
			sign, met = "≤", v <= b.want
		}
		measured, word := fmt.Sprintf("%.3g", v), map[bool]string{true: "met", false: "missed"}[met]
		if !ok {
			measured, word = "not measured", ""
		}
		want := fmt.Sprintf("%s %g %s", sign, b.want, b.unit)
		if b.want == 0 {
			want, word = b.unit, ""
		}
		fmt.Fprintf(w, "| %s | %s | %s | %s |\n", b.work, measured, want, word)
	}
}
