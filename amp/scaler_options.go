package amp

import "fmt"

// A ScalerOption configures NewGradScaler.
type ScalerOption func(*GradScaler)

// DefaultInitScale is the first scale of a GradScaler without InitScale, as in the reference.
const DefaultInitScale = 65536

// InitScale sets the first scale; the default is DefaultInitScale.
func InitScale(scale float64) ScalerOption {
	return func(g *GradScaler) { g.init, g.given.init = scale, true }
}

// GrowthFactor multiplies the scale after GrowthInterval clean updates; it must exceed 1, the default is 2.
func GrowthFactor(f float64) ScalerOption { return func(g *GradScaler) { g.growth = f } }

// BackoffFactor multiplies the scale after an overflow; it must be below 1, the default is 0.5.
func BackoffFactor(f float64) ScalerOption { return func(g *GradScaler) { g.backoff = f } }

// GrowthInterval is the number of clean updates in a row after which the scale grows; the default is 2000, and 0 never grows.
func GrowthInterval(n int) ScalerOption {
	return func(g *GradScaler) { g.interval, g.given.interval = n, true }
}

// MinScale stops the scale from falling below s; the report of a step that would have gone below carries an error. Without
// it the scale has no floor, as in the reference.
func MinScale(s float64) ScalerOption {
	return func(g *GradScaler) { g.floor, g.given.floor = s, true }
}

// ScalerEnabled(false) makes every method pass through, so that the same loop trains without scaling.
func ScalerEnabled(on bool) ScalerOption { return func(g *GradScaler) { g.enabled = on } }

// plausible refuses settings of which no step would come, or one in the wrong direction.
func (g *GradScaler) plausible() {
	bad := func(fix, format string, args ...any) { fail("NewGradScaler", ErrScaler, fix, format, args...) }
	switch {
	case !(float32(g.init) > 0) || !finite(float64(float32(g.init))):
		bad(fmt.Sprintf("use amp.InitScale(%d)", DefaultInitScale), "first scale %v must be above 0 and fit into float32", g.init)
	case !(g.growth > 1) || !finite(g.growth):
		bad("use amp.GrowthFactor(2)", "growth factor %v must exceed 1 and be finite", g.growth)
	case !(g.backoff >= 0 && g.backoff < 1):
		bad("use amp.BackoffFactor(0.5)", "backoff factor %v must be at least 0 and below 1", g.backoff)
	case g.interval < 0:
		bad("use amp.GrowthInterval(2000)", "growth interval %d must be at least 0, which never grows", g.interval)
	case !(g.floor >= 0) || !finite(float64(float32(g.floor))):
		bad("use amp.MinScale(1), or leave it out", "smallest scale %v must be 0 or above and fit into float32", g.floor)
	}
}
