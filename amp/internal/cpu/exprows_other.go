//go:build !amd64

package cpu

func (r *ExpRows) run(f Format) { panic("cpu: no tiles") }
