package nn

import (
	"fmt"
	"slices"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// Sampling says how GPT.Continue draws tokens from the model's predictions. The zero value takes the likeliest.
type Sampling struct {
	Temperature float64 // divides the logits: below 1 likely tokens become likelier; 0 takes the likeliest
	TopK        int     // only so many of the likeliest are drawn from; 0 stands for all
	// TopP leaves of those the fewest likeliest whose probabilities reach it together (nucleus sampling: Holtzman et al., The Curious Case
	// of Neural Text Degeneration, 2020); 0 and 1 stand for all.
	TopP float64
	// NoCache computes all positions again for each token. The tokens are the same but where rounding decides.
	NoCache bool
}

// Generate returns prompt followed by n tokens: Continue for one sequence, by temperature and topK alone. It panics with
// amp.ErrArgument for an empty prompt, a negative n or a negative temperature.
func (g *GPT) Generate(s *amp.Scope, prompt []int64, n int, temperature float64, topK int) []int64 {
	return g.generate(s, "Generate", [][]int64{slices.Clone(prompt)}, n, Sampling{Temperature: temperature, TopK: max(topK, 0)})[0]
}

// Continue returns prompts, int64 [batch P], each followed by n tokens: [batch P+n]. Tokens are drawn by the scope's random stream as
// how says. Keys and values of earlier positions are kept, so that a token costs one position; where the sequences outgrow the context
// their ends count, and as all positions shift each token is computed with the whole context. No graph is recorded, and nothing is dropped
// out. It panics with amp.ErrShape or amp.ErrDType for prompts that are none, and with amp.ErrArgument for prompts without tokens, a
// negative n or settings out of range.
func (g *GPT) Continue(s *amp.Scope, prompts *amp.Tensor, n int, how Sampling) *amp.Tensor {
	if prompts.Rank() != 2 {
		misshapen("Continue", "use [batch positions]", "prompts are %v", prompts.Shape())
	}
	if prompts.DType() != amp.Int64 {
		panic(&amp.Error{Op: "Continue", Kind: amp.ErrDType, Detail: fmt.Sprintf("prompts are %v", prompts.DType()), Fix: "use int64 tokens"})
	}
	batch, P := prompts.Dim(0), prompts.Dim(1)
	if batch == 0 {
		misshapen("Continue", "pass at least one sequence", "prompts are %v", prompts.Shape())
	}
	tokens, rows := amp.Values[int64](prompts), make([][]int64, batch)
	for i := range rows {
		rows[i] = slices.Clone(tokens[i*P : (i+1)*P])
	}
	all := slices.Concat(g.generate(s, "Continue", rows, n, how)...)
	return owned(s, amp.From(all, batch, P+n))
}

// generate appends n tokens to every row; rows are equally long.
func (g *GPT) generate(s *amp.Scope, op string, rows [][]int64, n int, how Sampling) [][]int64 {
	P, batch := len(rows[0]), len(rows)
	if P == 0 || n < 0 || !(how.Temperature >= 0) || how.TopK < 0 || !(how.TopP >= 0 && how.TopP <= 1) {
		misused(op, "start from at least one token, and use a temperature of 0 and above, a TopK of 0 and above and a TopP from 0 to 1",
			"%d tokens of prompt, %d to make, temperature %v, top k %d, top p %v", P, n, how.Temperature, how.TopK, how.TopP)
	}
	run := s.Child()
	defer run.Close()
	var cache *gptCache
	if !how.NoCache && P <= g.Config.Context {
		cache = newGPTCache(run, len(g.Blocks), min(g.Config.Context, P+n))
	}
	for range n {
		step := run.Child()
		eval := step.NoGrad().Eval().CastsIn(run)
		from := max(0, len(rows[0])-g.Config.Context)
		if from > 0 {
			cache = nil // every position is another one from now on
		}
		from = max(from, cache.seen())
		var tokens []int64
		for _, row := range rows {
			tokens = append(tokens, row[from:]...)
		}
		x := g.features(eval, step.Own(amp.From(tokens, batch, len(tokens)/batch)).To(eval), cache)
		logits := g.logits(eval, amp.Narrow(eval, x, 1, x.Dim(1)-1, 1)).Float64s()
		for i, at := range how.draw(eval, logits, batch) {
			rows[i] = append(rows[i], int64(at))
		}
		step.Close()
	}
	return rows
}

// draw chooses one index for each of batch rows of logits.
func (how Sampling) draw(s *amp.Scope, logits []float64, batch int) []int {
	u, width := make([]float64, batch), len(logits)/batch
	if how.Temperature > 0 {
		u = amp.Rand(s, amp.Float64, 0, 1, batch).Float64s()
	}
	out := make([]int, batch)
	for i := range out {
		out[i] = how.pick(logits[i*width:(i+1)*width], u[i])
	}
	return out
}

// pick returns the index of a logit that a number u from 0 to 1 stands for.
func (how Sampling) pick(logits []float64, u float64) int {
	order := byLogit(logits)
	if how.Temperature == 0 {
		return order[0]
	}
	if how.TopK > 0 {
		order = order[:min(how.TopK, len(order))]
	}
	shares, sum := make([]float64, len(order)), 0.0
	for i, k := range order {
		shares[i] = cpu.Exp.Of((logits[k] - logits[order[0]]) / how.Temperature)
		sum += shares[i]
	}
	if how.TopP > 0 && how.TopP < 1 {
		shares, sum = nucleus(shares, how.TopP*sum)
	}
	at := u * sum
	for i, p := range shares {
		if at -= p; at < 0 {
			return order[i]
		}
	}
	return order[0] // rounding, or no finite logit
}

// byLogit returns the indices from the largest logit to the smallest.
func byLogit(logits []float64) []int {
	order := make([]int, len(logits))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case logits[a] > logits[b]:
			return -1
		case logits[a] < logits[b]:
			return 1
		}
		return 0
	})
	return order
}

// nucleus returns the first of shares, sorted downwards, up to the one with which they reach a sum, and what they add up to.
func nucleus(shares []float64, reach float64) ([]float64, float64) {
	sum := 0.0
	for i, p := range shares {
		if sum += p; sum >= reach {
			return shares[:i+1], sum
		}
	}
	return shares, sum
}
