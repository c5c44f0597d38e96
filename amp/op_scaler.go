package amp

// What a GradScaler keeps on a device that works behind the host's back: the scale, how it moves, and a log of what was found, which
// the host reads when somebody asks.

var opLogFound, opUpdateScale, opCountStep *Op

func init() {
	opLogFound = define(Op{
		Name: "log_found_", Doc: "log[count mod size] = first, count += 1, first = none", Args: []string{"log", "count", "first"},
		Why: "the scaler's flags are no numbers to round", InPlace: true, Changes: 3, Ints: true, CUDA: "log_found",
		Check: func(c *Call) []int { return c.In[0].shape },
		CPU: func(c *Call) {
			log, count, first := c.In[0], &elements[int64](c.In[1])[c.In[1].off], &elements[int64](c.In[2])[c.In[2].off]
			elements[int64](log)[log.off+int(*count%int64(log.Len()))] = *first
			*count, *first = *count+1, firstNone
		},
	})
	opUpdateScale = define(Op{
		Name: "update_scale_", Doc: "scale · backoff if something was found, scale · growth after interval clean updates; found = 0",
		Args: []string{"scale", "tracker", "inverse", "found_inf"}, Why: "the scale is float32, its products are worked out in float64",
		InPlace: true, Changes: 4, CUDA: "update_scale",
		Check: func(c *Call) []int { return c.In[0].shape }, CPU: updateScaleCPU,
	})
	opCountStep = define(Op{
		Name: "count_step_", Doc: "steps += 1 unless found_inf", Args: []string{"steps", "found_inf"}, Why: "a counter", InPlace: true, Ints: true, CUDA: "count_step",
		Check: func(c *Call) []int { return c.In[0].shape },
		CPU: func(c *Call) {
			if f := c.In[1]; f == nil || f.at(f.off) == 0 {
				elements[int64](c.In[0])[c.In[0].off]++
			}
		},
	})
}

// updateScaleCPU: Pair is growth and backoff, Start the interval, Scalar the floor.
func updateScaleCPU(c *Call) {
	scale, inverse, found := &elements[float32](c.In[0])[c.In[0].off], &elements[float32](c.In[2])[c.In[2].off], &elements[float32](c.In[3])[c.In[3].off]
	tracker := &elements[int64](c.In[1])[c.In[1].off]
	m := scaleMove{growth: c.Pair[0], backoff: c.Pair[1], interval: c.Start, floor: c.Scalar}
	var n int
	*scale, n = m.next(*scale, int(*tracker), *found != 0)
	*tracker, *inverse, *found = int64(n), invert(*scale), 0
}

// invert returns the inverse of a scale, worked out in float64 and rounded once.
func invert(scale float32) float32 { return float32(1 / float64(scale)) }

// CountStep adds 1 to steps, 0-dimensional int64, unless found, 0-dimensional float32, is not 0; found may be nil. It is how an optimizer
// counts the steps it takes where the host is not told which were skipped.
func CountStep(steps, found *Tensor) {
	steps.live("CountStep")
	detachedOn(steps.st.dev).optimizing().apply(opCountStep, Attrs{}, steps, found)
}

// optimizing returns s in the optimizer phase.
func (s *Scope) optimizing() *Scope {
	s = s.derive()
	s.phase, s.noGrad, s.auto, s.path = optimizerPhase, true, autocast{}, ""
	return s
}
