//go:build long

package cudart_test

var (
	faultKinds = []string{"eager", "captured", "traced"}
	faultsAt   = []int{1, 2, 3, 5, 8, 13, 21, 34, 55}
)

// attentionAll has TestAttentionOfAnyWidth combine all widths, dtypes and options.
const attentionAll = true

// drawnPrograms is the number of programs that TestDrawnPrograms draws.
const drawnPrograms = 24
