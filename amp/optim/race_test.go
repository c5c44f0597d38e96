//go:build race

package optim_test

// raceDetector: sync.Pool drops some of what it is given, so that races show.
const raceDetector = true
