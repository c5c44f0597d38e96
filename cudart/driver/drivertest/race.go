//go:build race

package drivertest

// raceDetector: sync.Pool drops some of what it is given, so that races show.
const raceDetector = true
