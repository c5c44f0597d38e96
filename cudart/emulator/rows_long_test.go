//go:build long && linux && (amd64 || arm64)

package emulator

func init() {
	rowRuns = append(rowRuns, struct{ name, settings, checked string }{"checked", "order=shuffled,seed=4", "1"})
}
