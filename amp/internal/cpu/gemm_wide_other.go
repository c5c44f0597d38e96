//go:build !amd64

package cpu

func chooseTiles(*product[float32]) {}
