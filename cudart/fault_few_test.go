//go:build !long

package cudart_test

// What TestFaults has fail: these calls of these runs; more with the build tag long.
var (
	faultKinds = []string{"captured"}
	faultsAt   = []int{2}
)
