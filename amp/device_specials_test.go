package amp

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// specialNumbers are what a tensor holds after an overflow or an underflow, and what may become one.
var specialNumbers = []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, math.Copysign(0, -1), -1e-7, 60000, -6e4, 1}

// specialDiffers holds the rows that may have NaN where the CPU has infinities or numbers, or the other way round, and why.
var specialDiffers = map[string]string{
	"conv":                         paddingToo,
	"scaled_dot_product_attention": "what the device multiplies by a weight of 0, of a masked key, the CPU leaves out, or the other way round",
}

const paddingToo = "kernels and libraries multiply the zeros of the padding too, and 0·∞ is NaN"

// TestEveryOpOnDeviceOfSpecials gives every row that a program can call inputs with special numbers, and then gradients with some, as of a scaled
// loss that was too large. An overflow is where the CPU has it, NaN as NaN and infinities with their signs, for it is by them that a GradScaler
// knows.
func TestEveryOpOnDeviceOfSpecials(t *testing.T) {
	device, called := compared(t), caseNames()
	eachCase(t, func(t *testing.T, o *Op, c opCase) {
		if !slices.Contains(called, o.Name) {
			return
		}
		for name, reason := range specialDiffers {
			if strings.HasPrefix(strings.TrimPrefix(o.Name, "_"), name) {
				t.Skip(reason)
			}
		}
		compared := 0
		for round := range uint64(rounds) {
			if testing.Short() && round%backwardRounds > 1 {
				continue
			}
			for _, dt := range []DType{Float32, Float16, BFloat16, Float64} {
				d := specials{round: round, backward: round >= backwardRounds, nan: round%2 == 1, probabilities: o == opBCE}
				var want, got outcome
				refused, there := Maybe(func() { want = d.run(c, "cpu", dt) }), Maybe(func() { got = d.run(c, device, dt) })
				if refused != nil || there != nil { // a matrix has no factor, which both have to say, of the same one
					if w, g := noFactor(refused), noFactor(there); w == "" || w != g {
						t.Errorf("%v, round %d: %v, on the CPU %v", dt, round, there, refused)
					}
					continue
				}
				compared++
				if d.backward {
					want.lists, got.lists = want.lists[1:], got.lists[1:]
				}
				for k, list := range want.lists {
					for i, w := range list {
						if g := got.lists[k][i]; specialOf(g) != specialOf(w) {
							t.Errorf("%v, round %d, list %d element %d: %v, on the CPU %v", dt, round, k, i, g, w)
							break
						}
					}
				}
			}
		}
		if compared == 0 {
			t.Error("all rounds are refused")
		}
	})
}

// noFactor is what an error says of a matrix without a factor or inverse, without what a device adds; "" of any other error, and of none.
func noFactor(err error) string {
	var e *Error
	if !errors.As(err, &e) || e.Kind != ErrSingular {
		return ""
	}
	what, _, _ := strings.Cut(e.Detail, " (")
	return e.Op + ": " + what + "; " + e.Fix
}

// Rounds are draws: those from backwardRounds on have a special gradient, those before special inputs. Short runs have the first two of each, without
// NaN and with it.
const rounds, backwardRounds = 12, 8

// specials are the inputs of a round: those of the case, of which half, or a quarter of the gradient, is special.
type specials struct {
	round         uint64
	backward, nan bool
	probabilities bool // the CPU refuses inputs outside [0,1]
}

func (d specials) run(c opCase, device string, dt DType) outcome {
	defer SetDefaultDevice(SetDefaultDevice(device))
	root := NewScope(Seed(9))
	defer root.Close()
	r := rand.New(rand.NewPCG(d.round, 1))
	in := c.draws(root, dt, 5)
	if !d.backward {
		for i, x := range in {
			in[i] = fromFloat64s(dt, d.among(r, x.Float64s(), 2, d.probabilities), x.shape).RequireGrad()
		}
	}
	return c.outcomeOf(root, in, func(y *Tensor) *Tensor {
		w := weights(y.Len(), 7)
		if d.backward {
			w = d.among(r, w, 4, false)
		}
		return Sum(root, Mul(root, y, fromFloat64s(y.dt, w, y.shape)))
	})
}

// among replaces one of n numbers by special ones, or by those of them that may be probabilities.
func (d specials) among(r *rand.Rand, v []float64, n int, probabilities bool) []float64 {
	for k := range v {
		if s := specialNumbers[r.IntN(len(specialNumbers))]; r.IntN(n) == 0 && (d.nan || s == s) && !(probabilities && (s < 0 || s > 1)) {
			v[k] = s
		}
	}
	return v
}

// specialOf is 0 for a number, 1 and -1 for infinities, 2 for NaN.
func specialOf(v float64) int {
	switch {
	case v != v:
		return 2
	case math.IsInf(v, 0):
		return int(math.Copysign(1, v))
	}
	return 0
}
