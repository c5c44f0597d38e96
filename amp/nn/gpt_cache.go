package nn

import "github.com/halftone-ml/halftone/amp"

// gptCache holds the keys and values of the tokens that a GPT has seen, so that a further token is computed alone: what it adds to
// those before it is nothing, as no position sees a later one. They are in the dtype that attention computes in: a half under autocast.
type gptCache struct {
	s        *amp.Scope       // that the tensors are made in
	capacity int              // positions
	length   int              // of them seen
	layers   [][2]*amp.Tensor // keys and values [capacity batch heads features/heads]: positions come first, so that what is added is one piece
}

func newGPTCache(s *amp.Scope, layers, capacity int) *gptCache {
	return &gptCache{s: s, capacity: capacity, layers: make([][2]*amp.Tensor, layers)}
}

// seen returns the number of positions, 0 for no cache.
func (c *gptCache) seen() int {
	if c == nil {
		return 0
	}
	return c.length
}

// add counts tokens [batch positions] that all layers have seen.
func (c *gptCache) add(tokens *amp.Tensor) {
	if c != nil {
		c.length += tokens.Dim(-1)
	}
}

// extend stores a layer's new keys (0) or values (1), [batch heads positions features/heads], behind those seen, and returns all.
func (c *gptCache) extend(s *amp.Scope, layer, part int, x *amp.Tensor) *amp.Tensor {
	all := &c.layers[layer][part]
	if *all == nil {
		*all = amp.Zeros(c.s, x.DType(), c.capacity, x.Dim(0), x.Dim(1), x.Dim(3))
	}
	n := x.Dim(2)
	amp.CopyInPlace(s, amp.Narrow(s, *all, 0, c.length, n), amp.Permute(s, x, 2, 0, 1, 3))
	return amp.Permute(s, amp.Narrow(s, *all, 0, 0, c.length+n), 1, 2, 0, 3)
}

// follow is Run for positions that follow those in the cache, of which layer is this one's part: all of the first ones at once, then
// one at a time.
func (l *TransformerEncoderLayer) follow(s *amp.Scope, x *amp.Tensor, cache *gptCache, layer int) *amp.Tensor {
	return l.run(s, x, func(s *amp.Scope, in *amp.Tensor) *amp.Tensor {
		heads := l.SelfAttn.heads(s, in, in, in)
		k, v := cache.extend(s, layer, 0, heads[1]), cache.extend(s, layer, 1, heads[2])
		y := amp.ScaledDotProductAttention(s, heads[0], k, v, nil, amp.Attention{Causal: cache.length == 0})
		return l.SelfAttn.output(s, y, in.Shape())
	})
}
