package amp

import (
	"fmt"
	"sync"
	"testing"
)

// TestEveryOpTogether has several goroutines call every row, with its gradients, at a time, each in a scope of its own: what each comes to has the
// bits of one that is alone.
func TestEveryOpTogether(t *testing.T) {
	const workers = 4
	eachCase(t, func(t *testing.T, o *Op, c opCase) {
		for _, dt := range []DType{Float32, BFloat16} {
			want := c.alone(dt)
			var group sync.WaitGroup
			wrong := make([]string, workers)
			for w := range workers {
				group.Go(func() {
					got := c.alone(dt)
					for k, list := range want.lists {
						if i := differ(list, got.lists[k]); i >= 0 {
							wrong[w] = fmt.Sprintf("%v list %d element %d: %v, alone %v", dt, k, i, got.lists[k][i], list[i])
						}
					}
				})
			}
			group.Wait()
			for _, text := range wrong {
				if text != "" {
					t.Error(text)
				}
			}
		}
	})
}

// alone runs a case, forward and backward, on the default device.
func (c opCase) alone(dt DType) outcome {
	root := NewScope(Seed(9))
	defer root.Close()
	return c.outcomeOf(root, c.draws(root, dt, 5), func(y *Tensor) *Tensor { return project(root, y, 7) })
}
