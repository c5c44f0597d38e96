package nn_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/nn"
)

// Two texts at once, in bfloat16, from the likeliest tokens that make up 90 %.
func ExampleGPT_Continue() {
	root := amp.NewScope(amp.Seed(1))
	defer root.Close()
	g := nn.NewGPT(root, nn.GPTConfig{Context: 32, Features: 32, Layers: 2, Heads: 4, Tied: true})
	prompts := amp.From([]int64{'a', 'b', 'c', 'x', 'y', 'z'}, 2, 3)
	out := g.Continue(root.Autocast(amp.BFloat16), prompts, 10, nn.Sampling{Temperature: 0.8, TopP: 0.9})
	fmt.Println(out.Shape(), amp.Values[int64](out)[:3])
	// Output: [2 13] [97 98 99]
}

// lively makes a model's predictions as different as those of a trained one: small weights predict all tokens alike, and rounding would
// choose among them.
func lively(root *amp.Scope, g *nn.GPT) {
	for _, p := range g.Parameters() {
		if p.Rank() > 1 {
			nn.Normal(root, p, 0, 0.4)
		}
	}
}

// TestGPTCache: the same tokens come with and without kept keys and values, for several sequences, and beyond the context.
func TestGPTCache(t *testing.T) {
	root := amp.NewScope(amp.Seed(9))
	defer root.Close()
	g := nn.NewGPT(root, nn.GPTConfig{Context: 20, Features: 32, Layers: 2, Heads: 4, Vocabulary: 29, Dropout: 0.3})
	lively(root, g)
	prompts := amp.RandInt(root, 0, 29, 3, 5)
	for _, how := range []nn.Sampling{{}, {Temperature: 1}, {Temperature: 1.5, TopK: 9, TopP: 0.9}} {
		for _, n := range []int{0, 1, 15, 19} { // the last ones are beyond the context
			draw := func(p *amp.Tensor, cached bool) []int64 {
				state := root.Random().State()
				defer root.Random().Load(state)
				how.NoCache = !cached
				return amp.Values[int64](g.Continue(root, p, n, how))
			}
			with, without := draw(prompts, true), draw(prompts, false)
			if len(with) != 3*(5+n) || !slices.Equal(with, without) {
				t.Errorf("%+v, %d tokens: %v with a cache, %v without", how, n, with, without)
			}
			for i := range 3 { // each sequence as by itself
				if alone := draw(amp.Narrow(root, prompts, 0, i, 1), true); how.Temperature == 0 && !slices.Equal(alone, with[i*(5+n):(i+1)*(5+n)]) {
					t.Errorf("sequence %d alone goes on as %v, among others %v", i, alone, with)
				}
			}
		}
	}
	long := g.Continue(root, amp.RandInt(root, 0, 29, 1, 30), 2, nn.Sampling{}) // a prompt beyond the context
	if !slices.Equal(long.Shape(), []int{1, 32}) {
		t.Errorf("%v", long.Shape())
	}
}

// TestGPTCacheInHalves: under autocast every token is the likeliest of the whole sequence's logits, but for the rounding of a processor that
// multiplies one row in another way than many.
func TestGPTCacheInHalves(t *testing.T) {
	root := amp.NewScope(amp.Seed(9))
	defer root.Close()
	g := nn.NewGPT(root, nn.GPTConfig{Context: 40, Features: 32, Layers: 2, Heads: 4, Vocabulary: 29})
	lively(root, g)
	prompts := amp.RandInt(root, 0, 29, 3, 5)
	for _, dt := range []amp.DType{amp.Float16, amp.BFloat16} {
		half := root.Autocast(dt)
		out := g.Continue(half, prompts, 35, nn.Sampling{})
		tokens, logits := amp.Values[int64](out), g.Forward(half.NoGrad().Eval(), out).Float64s()
		same := 0
		for at := range tokens {
			if at%40 < 5 {
				continue
			}
			row := logits[(at-1)*29 : at*29]
			best, chosen := slices.Max(row), row[tokens[at]]
			if best == chosen {
				same++
			}
			if best-chosen > best/16 {
				t.Errorf("%v: token %d has logit %v, the likeliest %v", dt, at, chosen, best)
			}
		}
		if same < 3*35*9/10 {
			t.Errorf("%v: %d of %d tokens are the likeliest", dt, same, 3*35)
		}
	}
}

// TestGPTCacheWork: a token costs one position until the context is full.
func TestGPTCacheWork(t *testing.T) {
	root := amp.NewScope(amp.Seed(10), amp.Record(amp.Decisions))
	defer root.Close()
	g := nn.NewGPT(root, nn.GPTConfig{Context: 8, Features: 16, Layers: 1, Heads: 2, Vocabulary: 11})
	g.Continue(root, amp.RandInt(root, 0, 11, 2, 3), 7, nn.Sampling{})
	var positions []int
	for _, e := range root.Trace().Events {
		if e.Op == "embedding" {
			positions = append(positions, e.Out.Shape[1])
		}
	}
	if want := []int{3, 1, 1, 1, 1, 1, 8}; !slices.Equal(positions, want) {
		t.Errorf("positions computed: %v, want %v", positions, want)
	}
}

// TestSampling draws from known logits: those of a model that predicts the same whatever it sees.
func TestSampling(t *testing.T) {
	root := amp.NewScope(amp.Seed(11))
	defer root.Close()
	g := nn.NewGPT(root, nn.GPTConfig{Context: 4, Features: 4, Layers: 1, Heads: 1, Vocabulary: 4})
	for _, p := range g.Parameters() {
		amp.Assign(p, amp.Zeros(root, amp.Float32, p.Shape()...))
	}
	amp.Assign(g.Norm.Bias, amp.From([]float32{1, 0, 0, 0}))
	// Probabilities 0.1, 0.5, 0.15 and 0.25, by their logarithms.
	amp.Assign(g.Head.Weight, amp.From([]float32{-2.302585, 0, 0, 0, -0.693147, 0, 0, 0, -1.897120, 0, 0, 0, -1.386294, 0, 0, 0}, 4, 4))
	for name, c := range map[string]struct {
		how  nn.Sampling
		want [4]float64
	}{
		"all":          {nn.Sampling{Temperature: 1}, [4]float64{0.1, 0.5, 0.15, 0.25}},
		"top p":        {nn.Sampling{Temperature: 1, TopP: 0.7}, [4]float64{0, 2. / 3, 0, 1. / 3}},
		"top p, least": {nn.Sampling{Temperature: 1, TopP: 0.01}, [4]float64{0, 1, 0, 0}},
		"top p, all":   {nn.Sampling{Temperature: 1, TopP: 1}, [4]float64{0.1, 0.5, 0.15, 0.25}},
		"top k":        {nn.Sampling{Temperature: 1, TopK: 3}, [4]float64{0, 0.5 / 0.9, 0.15 / 0.9, 0.25 / 0.9}},
		// Of the three likeliest 0.5 and 0.25 are five sixths.
		"both":    {nn.Sampling{Temperature: 1, TopK: 3, TopP: 0.8}, [4]float64{0, 2. / 3, 0, 1. / 3}},
		"sharper": {nn.Sampling{Temperature: 0.5}, [4]float64{0.01 / 0.345, 0.25 / 0.345, 0.0225 / 0.345, 0.0625 / 0.345}},
		"greedy":  {nn.Sampling{TopP: 0.5}, [4]float64{0, 1, 0, 0}},
	} {
		const draws = 2000
		var counts [4]float64
		out := amp.Values[int64](g.Continue(root, amp.From(make([]int64, draws), draws, 1), 1, c.how))
		for i := range draws {
			counts[out[2*i+1]] += 1.0 / draws
		}
		for i, p := range c.want {
			if d := counts[i] - p; d > 0.04 || d < -0.04 || p == 0 && counts[i] != 0 { // the deviation is 0.011
				t.Errorf("%s: shares %v, want %v", name, counts, c.want)
				break
			}
		}
	}
	prompt := amp.From([]int64{1}, 1, 1)
	for name, c := range map[string]struct {
		kind error
		f    func()
	}{
		"top p":   {amp.ErrArgument, func() { g.Continue(root, prompt, 1, nn.Sampling{TopP: 1.1}) }},
		"top k":   {amp.ErrArgument, func() { g.Continue(root, prompt, 1, nn.Sampling{TopK: -1}) }},
		"n":       {amp.ErrArgument, func() { g.Continue(root, prompt, -1, nn.Sampling{}) }},
		"empty":   {amp.ErrArgument, func() { g.Continue(root, amp.From([]int64{}, 2, 0), 1, nn.Sampling{}) }},
		"none":    {amp.ErrShape, func() { g.Continue(root, amp.From([]int64{}, 0, 2), 1, nn.Sampling{}) }},
		"rank":    {amp.ErrShape, func() { g.Continue(root, amp.From([]int64{1}), 1, nn.Sampling{}) }},
		"dtype":   {amp.ErrDType, func() { g.Continue(root, amp.From([]float32{1}, 1, 1), 1, nn.Sampling{}) }},
		"unknown": {amp.ErrArgument, func() { g.Continue(root, amp.From([]int64{4}, 1, 1), 1, nn.Sampling{}) }},
	} {
		if err := amp.Maybe(c.f); !errors.Is(err, c.kind) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
