package cudart_test

import (
	"slices"

	"github.com/halftone-ml/halftone/amp"
)

// The ops that programs are drawn of. Each draws its settings and parameters when it is drawn, not when it runs.

type tensorFunc = func(s *amp.Scope, x *amp.Tensor) *amp.Tensor

// drawnKinds draws an op by name. Functions get the input drawn for them, and give a tensor of the same shape.
var drawnKinds = []struct {
	name string
	draw func(p *program) tensorFunc
}{
	{"gelu", func(*program) tensorFunc { return amp.GELU }},
	{"relu", func(*program) tensorFunc { return amp.ReLU }},
	{"tanh", func(*program) tensorFunc { return amp.Tanh }},
	{"silu", func(*program) tensorFunc { return amp.SiLU }},
	{"square", func(*program) tensorFunc {
		return func(s *amp.Scope, x *amp.Tensor) *amp.Tensor { return amp.Square(s, amp.Clamp(s, x, -2, 2)) }
	}},
	{"softmax", func(*program) tensorFunc {
		return func(s *amp.Scope, x *amp.Tensor) *amp.Tensor { return amp.Softmax(s, x, 2) }
	}},
	{"scaled", func(p *program) tensorFunc {
		k := []float64{-1, 0.5, 1.5}[p.draw.IntN(3)]
		return func(s *amp.Scope, x *amp.Tensor) *amp.Tensor { return amp.MulScalar(s, x, k) }
	}},
	{"dropout", func(*program) tensorFunc {
		return func(s *amp.Scope, x *amp.Tensor) *amp.Tensor { return amp.Dropout(s, x, 0.25) }
	}},
	{"linear", drawLinear}, {"linear", drawLinear}, {"linear", drawLinear},
	{"layer norm", drawNorm}, {"layer norm", drawNorm},
	{"rms norm", func(p *program) tensorFunc {
		w := p.bias(p.f)
		return func(s *amp.Scope, x *amp.Tensor) *amp.Tensor { return amp.RMSNorm(s, x, w, 1e-5) }
	}},
	{"batch norm", drawBatchNorm},
	{"affine", func(p *program) tensorFunc {
		w, b := p.param(p.f), p.param(p.t, 1)
		return func(s *amp.Scope, x *amp.Tensor) *amp.Tensor { return amp.Add(s, amp.Mul(s, x, w), b) }
	}},
	{"gated", func(p *program) tensorFunc {
		w := p.param(2*p.f, p.f)
		return func(s *amp.Scope, x *amp.Tensor) *amp.Tensor { return amp.GLU(s, amp.Linear(s, x, w, nil), 2) }
	}},
	{"mixed", func(p *program) tensorFunc { // along t
		w := p.param(p.t, p.t)
		return func(s *amp.Scope, x *amp.Tensor) *amp.Tensor {
			return amp.Transpose(s, amp.MatMul(s, amp.Transpose(s, x, 1, 2), w), 1, 2)
		}
	}},
	{"attention", drawAttention},
	{"conv", func(p *program) tensorFunc { // along f, channels t
		w, b := p.param(p.t, p.t, 3), p.bias(p.t)
		return func(s *amp.Scope, x *amp.Tensor) *amp.Tensor { return amp.Conv1d(s, x, w, b, amp.Padding(1)) }
	}},
	{"joined", func(p *program) tensorFunc {
		n := 1 + p.draw.IntN(p.f-1)
		return func(s *amp.Scope, x *amp.Tensor) *amp.Tensor {
			return amp.Cat(s, 2, amp.Narrow(s, x, 2, n, p.f-n), amp.Neg(s, amp.Narrow(s, x, 2, 0, n)))
		}
	}},
	{"turned", func(*program) tensorFunc {
		return func(s *amp.Scope, x *amp.Tensor) *amp.Tensor {
			return amp.Roll(s, amp.Flip(s, x, 2), []int{1}, []int{1})
		}
	}},
	{"centered", func(*program) tensorFunc {
		return func(s *amp.Scope, x *amp.Tensor) *amp.Tensor { return amp.Sub(s, x, amp.MeanKeep(s, x, 1)) }
	}},
	{"in half", func(*program) tensorFunc {
		return func(s *amp.Scope, x *amp.Tensor) *amp.Tensor {
			return amp.To(s, amp.MulScalar(s, amp.To(s, x, amp.Float16), 0.5), x.DType())
		}
	}},
	{"in full", func(p *program) tensorFunc {
		w := p.param(p.f, p.f)
		return func(s *amp.Scope, x *amp.Tensor) *amp.Tensor {
			full := s.Autocast(amp.NoDType, amp.Enabled(false))
			return amp.Linear(full, amp.To(full, x, p.dt), w, nil)
		}
	}},
	{"table", func(p *program) tensorFunc {
		w, at := p.param(7, p.f), amp.RandInt(p.root, 0, 7, p.b, p.t)
		return func(s *amp.Scope, x *amp.Tensor) *amp.Tensor { return amp.Add(s, x, amp.Embedding(s, w, at)) }
	}},
}

// more of them, whose kernels are not those of elements and products.
func init() {
	drawnKinds = append(drawnKinds, []struct {
		name string
		draw func(p *program) tensorFunc
	}{
		{"image", func(p *program) tensorFunc {
			c := 1 + p.draw.IntN(3)
			w, b, v := p.param(c, 1, 3, 3), p.bias(c), p.param(1, c, 3, 3)
			return func(s *amp.Scope, x *amp.Tensor) *amp.Tensor {
				y := amp.ReLU(s, amp.Conv2d(s, amp.Unsqueeze(s, x, 1), w, b, amp.Padding(1)))
				return amp.Squeeze(s, amp.Conv2d(s, y, v, nil, amp.Padding(1)), 1)
			}
		}},
		{"pooled", func(*program) tensorFunc {
			return func(s *amp.Scope, x *amp.Tensor) *amp.Tensor {
				return amp.MaxPool1d(s, x, 3, amp.Stride(1), amp.Padding(1))
			}
		}},
		{"recurrent", func(p *program) tensorFunc {
			w := amp.CellWeights{IH: p.param(3*p.f, p.f), HH: p.param(3*p.f, p.f), BiasIH: p.param(3 * p.f), BiasHH: p.param(3 * p.f)}
			return func(s *amp.Scope, x *amp.Tensor) *amp.Tensor {
				y, _ := amp.GRU(s, amp.Transpose(s, x, 0, 1), nil, w, false)
				return amp.Transpose(s, y, 0, 1)
			}
		}},
		{"summed up", func(*program) tensorFunc {
			return func(s *amp.Scope, x *amp.Tensor) *amp.Tensor { return amp.MulScalar(s, amp.Cumsum(s, x, 1), 0.25) }
		}},
		{"sorted", func(*program) tensorFunc {
			return func(s *amp.Scope, x *amp.Tensor) *amp.Tensor {
				y, _ := amp.Sort(s, x, 2, false)
				return y
			}
		}},
		{"picked", func(p *program) tensorFunc {
			at := amp.RandInt(p.root, 0, int64(p.f), p.f)
			return func(s *amp.Scope, x *amp.Tensor) *amp.Tensor { return amp.IndexSelect(s, x, 2, at) }
		}},
		{"blended", func(p *program) tensorFunc {
			w := p.param(p.f)
			return func(s *amp.Scope, x *amp.Tensor) *amp.Tensor {
				return amp.Lerp(s, x, amp.Contiguous(s, amp.Flip(s, x, 1)), amp.Expand(s, amp.To(s, amp.Sigmoid(s, w), x.DType()), p.b, p.t, p.f))
			}
		}},
		{"normalized", func(*program) tensorFunc {
			return func(s *amp.Scope, x *amp.Tensor) *amp.Tensor {
				return amp.Div(s, x, amp.AddScalar(s, amp.Unsqueeze(s, amp.Norm(s, x, 2), 2), 1))
			}
		}},
		{"pieces", func(*program) tensorFunc {
			return func(s *amp.Scope, x *amp.Tensor) *amp.Tensor {
				return amp.Stack(s, 1, amp.Unbind(s, amp.SiLU(s, x), 1)...)
			}
		}},
		{"grouped", func(p *program) tensorFunc {
			w, b := p.param(p.t), p.param(p.t)
			return func(s *amp.Scope, x *amp.Tensor) *amp.Tensor { return amp.GroupNorm(s, x, 1, w, b, 1e-5) }
		}},
	}...)
}

// drawOp draws an op of one input, or of two, or of another one within a checkpoint.
func (p *program) drawOp() drawnOp {
	k := drawnKinds[p.draw.IntN(len(drawnKinds))]
	a, f := p.from(), k.draw(p)
	switch p.draw.IntN(8) {
	case 0, 1: // residual
		b := p.from()
		return drawnOp{k.name + " and more", func(s *amp.Scope, pool []*amp.Tensor) *amp.Tensor { return amp.Add(s, b(pool), f(s, a(pool))) }}
	case 2:
		b, join := p.from(), []func(s *amp.Scope, a, b *amp.Tensor) *amp.Tensor{amp.Sub, amp.Mul, amp.Maximum, where}[p.draw.IntN(4)]
		return drawnOp{k.name + " with another", func(s *amp.Scope, pool []*amp.Tensor) *amp.Tensor { return join(s, f(s, a(pool)), b(pool)) }}
	case 3:
		return drawnOp{k.name + " again", func(s *amp.Scope, pool []*amp.Tensor) *amp.Tensor {
			return amp.Checkpoint(s, func(s *amp.Scope, in ...*amp.Tensor) *amp.Tensor { return f(s, in[0]) }, a(pool))
		}}
	case 4:
		return drawnOp{k.name + " apart", func(s *amp.Scope, pool []*amp.Tensor) *amp.Tensor {
			x := a(pool)
			return amp.Add(s, x, amp.Detach(s, f(s, x)))
		}}
	}
	return drawnOp{k.name, func(s *amp.Scope, pool []*amp.Tensor) *amp.Tensor { return f(s, a(pool)) }}
}

func where(s *amp.Scope, a, b *amp.Tensor) *amp.Tensor {
	return amp.Where(s, amp.Gt(s, a, b), a, amp.MulScalar(s, b, 0.5))
}

func drawLinear(p *program) tensorFunc {
	w, b := p.param(p.f, p.f), p.bias(p.f)
	return func(s *amp.Scope, x *amp.Tensor) *amp.Tensor { return amp.Linear(s, x, w, b) }
}

func drawNorm(p *program) tensorFunc {
	w, b := p.bias(p.f), (*amp.Tensor)(nil)
	if w != nil {
		b = p.bias(p.f)
	}
	return func(s *amp.Scope, x *amp.Tensor) *amp.Tensor { return amp.LayerNorm(s, x, w, b, 1e-5) }
}

// drawBatchNorm draws a batch norm over t.
func drawBatchNorm(p *program) tensorFunc {
	w, b := p.param(p.t), p.param(p.t)
	st := amp.BatchNormState{RunningMean: amp.Zeros(p.root, p.dt, p.t), RunningVar: amp.Ones(p.root, p.dt, p.t), Momentum: 0.1, Eps: 1e-5}
	p.state = append(p.state, st.RunningMean, st.RunningVar)
	return func(s *amp.Scope, x *amp.Tensor) *amp.Tensor { return amp.BatchNorm(s, x, w, b, st) }
}

// drawAttention draws attention of the features as one head, or with heads where they can be split.
func drawAttention(p *program) tensorFunc {
	heads := 1
	if p.f%8 == 0 && p.draw.IntN(2) == 0 {
		heads = p.f / 8
	}
	w := p.param(3*p.f, p.f)
	o := amp.Attention{Causal: p.draw.IntN(2) == 0}
	if p.draw.IntN(4) == 0 {
		o.Dropout = 0.2
	}
	split := func(s *amp.Scope, x *amp.Tensor) *amp.Tensor {
		return amp.Transpose(s, amp.Reshape(s, x, p.b, p.t, heads, p.f/heads), 1, 2)
	}
	return func(s *amp.Scope, x *amp.Tensor) *amp.Tensor {
		qkv := amp.Chunk(s, amp.Linear(s, x, w, nil), 3, 2)
		a := amp.ScaledDotProductAttention(s, split(s, qkv[0]), split(s, qkv[1]), split(s, qkv[2]), nil, o)
		return amp.Reshape(s, amp.Transpose(s, a, 1, 2), slices.Clone(x.Shape())...)
	}
}
