package amp

// A device is one goroutine's while a step is captured there. Others are refused rather than recorded: a replay would do again what they did.

// A Keeper is a Capturer that one goroutine can have for itself.
type Keeper interface {
	Capturer
	// Keep waits for the calls of other goroutines and refuses further ones until release, which the same goroutine calls. It returns nil while
	// another goroutine keeps the device.
	Keep() (release func())
	// KeptFrom says whether another goroutine than the caller's keeps the device.
	KeptFrom() bool
}

// AwaitCapture is what those who are refused are to do.
const AwaitCapture = "wait until Capture returns"

// KeptByAnother is what they are told of a device.
func KeptByAnother(device string) string {
	return "another goroutine is capturing a step on " + device + ", and nobody else may use the device meanwhile"
}

// keep takes a device for a capture.
func keep(dev Device) (release func()) {
	k, ok := dev.(Keeper)
	if !ok {
		return func() {}
	}
	release = k.Keep()
	if release == nil {
		fail("Capture", ErrCapture, AwaitCapture, "%s", KeptByAnother(dev.Name()))
	}
	return release
}

// keptFrom says whether a device belongs to another goroutine, which captures a step there.
func keptFrom(dev Device) bool {
	if capturing.Load() == nil { // as good as always
		return false
	}
	k, ok := dev.(Keeper)
	return ok && k.KeptFrom()
}

// notKept panics if a device belongs to another goroutine.
func notKept(op string, dev Device) {
	if keptFrom(dev) {
		fail(op, ErrCapture, AwaitCapture, "%s", KeptByAnother(dev.Name()))
	}
}

// mine says whether the caller may look at what g has so far.
func (g *Graph) mine() bool { return g != nil && !keptFrom(g.s.root.dev) }
