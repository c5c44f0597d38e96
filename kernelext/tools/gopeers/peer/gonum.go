package main

import (
	"math/rand/v2"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
)

// gonum has products of float32 and float64, by its own Go implementation of BLAS.
func gonum(part []string) (func(), error) {
	if part[0] != "gemm" {
		return nil, nil
	}
	m, n, k, transposed := product(part)
	tb, rows, cols := blas.NoTrans, k, n
	if transposed {
		tb, rows, cols = blas.Trans, n, k
	}
	switch part[1] {
	case "f32":
		matrix := func(r, c int) blas32.General {
			return blas32.General{Rows: r, Cols: c, Stride: c, Data: random[float32](r * c)}
		}
		a, b, c := matrix(m, k), matrix(rows, cols), matrix(m, n)
		return func() { blas32.Gemm(blas.NoTrans, tb, 1, a, b, 0, c) }, nil
	case "f64":
		matrix := func(r, c int) blas64.General {
			return blas64.General{Rows: r, Cols: c, Stride: c, Data: random[float64](r * c)}
		}
		a, b, c := matrix(m, k), matrix(rows, cols), matrix(m, n)
		return func() { blas64.Gemm(blas.NoTrans, tb, 1, a, b, 0, c) }, nil
	}
	return nil, nil
}

// random returns n normally distributed numbers.
func random[F float32 | float64](n int) []F {
	rng := rand.New(rand.NewPCG(1, 2))
	x := make([]F, n)
	for i := range x {
		x[i] = F(rng.NormFloat64())
	}
	return x
}
