package amp

import (
	"fmt"
	"strings"
)

// What scopes, scalers, graphs, streams, policies and memory counts print.

// String is one line: the device, the autocast dtype, what is off, and the place in the model and the loop.
func (s *Scope) String() string {
	if s == nil {
		return "Scope(nil)"
	}
	if s.root == nil {
		return "Scope(empty: NewScope has not made it)"
	}
	parts := []string{s.Device(), "autocast off"}
	if s.auto.on {
		parts[1] = "autocast " + s.auto.dtype.String()
		if r := s.auto.short; r != nil {
			parts = append(parts, r.String())
		}
	}
	if s.noGrad {
		parts = append(parts, "no grad")
	}
	if s.eval {
		parts = append(parts, "eval")
	}
	if s.path != "" {
		parts = append(parts, "in "+s.path)
	}
	if s.step >= 0 {
		parts = append(parts, fmt.Sprintf("step %d", s.step))
	}
	if s.arena.gen.Load() != s.gen {
		parts = append(parts, "closed")
	}
	return "Scope(" + strings.Join(parts, ", ") + ")"
}

// String is one line: the scale and the settings by torch's names. A device that works behind the host's back is waited for.
func (g *GradScaler) String() string {
	if g == nil {
		return "GradScaler(nil)"
	}
	st := g.State()
	if st == nil {
		return "GradScaler(enabled=false)"
	}
	text := fmt.Sprintf("GradScaler(scale=%g, growth_factor=%g, backoff_factor=%g, growth_interval=%d, growth_tracker=%d",
		st.Scale, st.GrowthFactor, st.BackoffFactor, st.GrowthInterval, st.GrowthTracker)
	if g.floor > 0 {
		text += fmt.Sprintf(", min_scale=%g", g.floor)
	}
	return text + ")"
}

// String is one line: the device, and what the step has to do with tensors from outside.
func (g *Graph) String() string {
	switch {
	case g == nil:
		return "Graph(nil)"
	case g.closed:
		return "Graph(" + g.s.Device() + ", closed)"
	case g.dev == nil && g.stage == graphReady:
		return "Graph(" + g.s.Device() + ", captures nothing: a replay runs the step again)"
	case g.stage != graphReady:
		return "Graph(" + g.s.Device() + ", being captured)"
	}
	changed := 0
	for st := range g.inputs {
		if g.changed[st] {
			changed++
		}
	}
	return fmt.Sprintf("Graph(%s, uses %d tensors from outside and changes %d of them)", g.s.Device(), len(g.inputs), changed)
}

// String is one line, in bytes.
func (m MemoryStats) String() string {
	text := fmt.Sprintf("Memory(%d bytes in use", m.Bytes)
	if m.Bytes > 0 {
		text += " (" + holders(m.ByDType) + ")"
	}
	text += fmt.Sprintf(", peak %d, reserved %d in %d blocks", m.Peak, m.Reserved, m.NewBuffers)
	if m.Limit > 0 {
		text += fmt.Sprintf(", limit %d", m.Limit)
	}
	return text + ")"
}

// String is one line: the seed and the blocks of four 32-bit numbers drawn, which are all its state.
func (r *Stream) String() string {
	if r == nil {
		return "Stream(nil)"
	}
	st := r.State()
	return fmt.Sprintf("Stream(seed=%d, counter=%d)", st.Seed, st.Counter)
}

// String is one line: the policy and how much of the model is under it.
func (m *PolicyModel) String() string {
	if m == nil {
		return "PolicyModel(nil)"
	}
	numbers := 0
	for _, p := range m.Parameters() {
		numbers += p.Len()
	}
	return fmt.Sprintf("PolicyModel(%v, parameters: %d (%d numbers))", m.Policy, len(m.Parameters()), numbers)
}
