package amp

import (
	endian "encoding/binary"
	"fmt"
	"math"
)

// The scaler's settings, and its state for checkpoints.

// CurrentScale returns the scale: 1 if disabled, and the initial value, unrounded, before the first Scale.
func (g *GradScaler) CurrentScale() float64 {
	g.known("CurrentScale")
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case !g.enabled:
		return 1
	case g.scale == nil:
		return g.init
	}
	return float64(g.current())
}

// GrowthTracker returns the clean updates since the scale last changed; 0 if disabled.
func (g *GradScaler) GrowthTracker() int {
	g.known("GrowthTracker")
	g.mu.Lock()
	defer g.mu.Unlock()
	g.resolve()
	return g.tracker
}

// Enabled says whether the scaler does anything.
func (g *GradScaler) Enabled() bool { return g.known("Enabled").enabled }

// GrowthFactor returns the factor of growth.
func (g *GradScaler) GrowthFactor() float64 { return g.known("GrowthFactor").growth }

// BackoffFactor returns the factor of backoff.
func (g *GradScaler) BackoffFactor() float64 { return g.known("BackoffFactor").backoff }

// GrowthInterval returns the clean updates that growth takes.
func (g *GradScaler) GrowthInterval() int { return g.known("GrowthInterval").interval }

// SetGrowthFactor changes the factor of growth, unchecked as in the reference.
func (g *GradScaler) SetGrowthFactor(f float64) { g.known("SetGrowthFactor").growth = f }

// SetBackoffFactor changes the factor of backoff, unchecked as in the reference.
func (g *GradScaler) SetBackoffFactor(f float64) { g.known("SetBackoffFactor").backoff = f }

// SetGrowthInterval changes the interval. Growth happens when the tracker equals it, so one at or below the present tracker
// takes effect after the next overflow.
func (g *GradScaler) SetGrowthInterval(n int) { g.known("SetGrowthInterval").interval = n }

// ScalerState is a scaler's saved state, with the keys of the reference's state_dict.
type ScalerState struct {
	Scale          float64 `json:"scale"`
	GrowthFactor   float64 `json:"growth_factor"`
	BackoffFactor  float64 `json:"backoff_factor"`
	GrowthInterval int     `json:"growth_interval"`
	GrowthTracker  int     `json:"_growth_tracker"`
}

// State returns what LoadState needs; nil if the scaler is disabled. Save it after Update.
func (g *GradScaler) State() *ScalerState {
	g.known("State")
	if !g.enabled {
		return nil
	}
	scale := g.CurrentScale()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.resolve()
	return &ScalerState{scale, g.growth, g.backoff, g.interval, g.tracker}
}

// StateLater is State for one who does not wait for a device: state returns it, given the elements of the tensors of, as they are when all that
// is queued now is done.
func (g *GradScaler) StateLater() (of []*Tensor, state func(elements [][]byte) any) {
	g.known("StateLater")
	g.mu.Lock()
	if g.far == nil || !g.enabled {
		g.mu.Unlock()
		now := g.State()
		return nil, func([][]byte) any { return now }
	}
	defer g.mu.Unlock()
	st := ScalerState{GrowthFactor: g.growth, BackoffFactor: g.backoff, GrowthInterval: g.interval}
	return []*Tensor{g.scale, g.far.tracker}, func(elements [][]byte) any {
		st.Scale = float64(math.Float32frombits(endian.NativeEndian.Uint32(elements[0])))
		st.GrowthTracker = int(endian.NativeEndian.Uint64(elements[1]))
		return &st
	}
}

// LoadState restores what State returned. A disabled scaler ignores it; nil, the state of a disabled scaler, is an error, as is one that
// was never filled in or whose scale is negative or NaN: it would train backward or not at all.
func (g *GradScaler) LoadState(st *ScalerState) error {
	g.known("LoadState")
	if !g.enabled {
		return nil
	}
	if st == nil {
		return &Error{Op: "GradScaler.LoadState", Kind: ErrScaler, Detail: "the state is empty; it was possibly saved from a disabled scaler", Fix: "save the state of an enabled one"}
	}
	if *st == (ScalerState{}) || !(st.Scale >= 0) {
		return &Error{Op: "GradScaler.LoadState", Kind: ErrScaler, Detail: fmt.Sprintf("no scaler has the state %+v", *st), Fix: "load what State returned"}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.resolve()
	g.init, g.growth, g.backoff, g.interval, g.tracker = st.Scale, st.GrowthFactor, st.BackoffFactor, st.GrowthInterval, st.GrowthTracker
	if g.scale != nil {
		g.setScale(float32(st.Scale))
	}
	if g.far != nil {
		g.far.tracker.fill(float64(g.tracker))
	}
	return nil
}
