//go:build !race

package optim_test

const raceDetector = false
