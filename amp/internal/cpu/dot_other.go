//go:build !amd64

package cpu

func mostDot() Dot { return Strict }

func defaultDot() Dot { return Strict }

func kernelDot(g *product[float32]) *kernel[float32] { return nil }

func hasTilesF16() bool { return false }
