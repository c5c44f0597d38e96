//go:build !linux

package emulator

// lock is not needed where Build does not get as far.
func lock(string) (func(), error) { return func() {}, nil }

func tryLock(string) (func(), bool) { return nil, false }
