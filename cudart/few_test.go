//go:build !long

package cudart_test

// What TestFaults has fail: these calls of these runs; more with the build tag long.
var (
	faultKinds = []string{"captured", "traced"}
	faultsAt   = []int{1, 2}
)

// attentionAll has TestAttentionOfAnyWidth combine all widths, dtypes and options.
const attentionAll = false

// drawnPrograms is the number of programs that TestDrawnPrograms draws.
const drawnPrograms = 8
