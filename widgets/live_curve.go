package widgets

// A liveCurve keeps the losses of a loop of any length in a bounded number of points, each the mean of as many steps as the
// others. When there is no room left, neighbors are joined: adding a loss costs a few nanoseconds at any time.
type liveCurve struct {
	means [maxLivePoints]bucket
	n     int // of them in use
	width int // steps in each
}

// A bucket is the sum of the losses of some steps.
type bucket struct {
	sum   float64
	steps int // with a loss
}

// add takes the loss of a step; steps come in order.
func (c *liveCurve) add(step int, loss float64) {
	if c.width == 0 {
		c.width = 1
	}
	for step/c.width >= maxLivePoints {
		for i := range maxLivePoints / 2 {
			a, b := c.means[2*i], c.means[2*i+1]
			c.means[i] = bucket{a.sum + b.sum, a.steps + b.steps}
		}
		clear(c.means[maxLivePoints/2:])
		c.width *= 2
		c.n = (c.n + 1) / 2
	}
	i := step / c.width
	c.means[i].sum += loss
	c.means[i].steps++
	c.n = i + 1
}

// points is the curve so far: every point stands at the middle of its steps.
func (c *liveCurve) points() []LossPoint {
	out := make([]LossPoint, 0, c.n)
	for i, b := range c.means[:c.n] {
		if b.steps > 0 {
			out = append(out, LossPoint{i*c.width + (min(c.width, b.steps)-1)/2, digits(b.sum/float64(b.steps), 4)})
		}
	}
	return out
}

// A skipList keeps the steps that were skipped; when many, every second one.
type skipList struct {
	at    []int
	every int
	seen  int
}

func (s *skipList) add(step int) {
	s.every = max(s.every, 1)
	if s.seen%s.every == 0 {
		if len(s.at) == maxLiveSkips {
			for i := range maxLiveSkips / 2 {
				s.at[i] = s.at[2*i]
			}
			s.at = s.at[:maxLiveSkips/2]
			s.every *= 2
		}
		if s.seen%s.every == 0 {
			s.at = append(s.at, step)
		}
	}
	s.seen++
}
