package cpu

import "sync"

// Float is an accumulator type; int64 is there for integer matrices.
type Float interface{ float32 | float64 | int64 }

// A Matrix is an operand of Gemm: element (i,j) lies at Off + i*Row + j*Col of whatever Load reads.
type Matrix[T Float] struct {
	Row, Col int
	// Load sets dst to len(dst) elements that start at off and lie stride apart, widened to T.
	Load func(dst []T, off, stride int)
	Off  int
}

// Micro-tile: 4×4 accumulators are what the compiler keeps in registers.
const (
	mr = 4
	nr = 4
)

// A workspace holds packed panels; pooled so that a steady training step allocates none.
type workspace[T Float] struct {
	a, b, c []T
	load    [256]T // one piece of an operand; on the stack it would escape through Load
}

var (
	ws32 = sync.Pool{New: func() any { return new(workspace[float32]) }}
	ws64 = sync.Pool{New: func() any { return new(workspace[float64]) }}
	wsI  = sync.Pool{New: func() any { return new(workspace[int64]) }}
)

func workspaces[T Float]() *sync.Pool {
	var z T
	switch any(z).(type) {
	case float32:
		return &ws32
	case float64:
		return &ws64
	}
	return &wsI
}

func grow[T any](b []T, n int) []T {
	if cap(b) < n {
		return make([]T, n)
	}
	return b[:n]
}

// Gemm computes rows of a·b, a [m k] and b [k n], accumulated in T in the order of k, and hands every finished row block to
// store as row-major values of row i, so that rounding to a shorter format happens once, there. Work is split by rows in
// blocks that depend on the shape alone.
func Gemm[T Float](m, n, k int, a, b Matrix[T], store func(i int, row []T)) {
	if m == 0 || n == 0 {
		return
	}
	pool := workspaces[T]()
	w := pool.Get().(*workspace[T])
	np := (n + nr - 1) / nr
	w.b = grow(w.b, np*nr*k)
	packB(w, n, k, b)
	grain := max(mr, (1<<18/(max(k, 1)*n)+mr-1)/mr*mr)
	Parallel(m, grain, func(lo, hi int) {
		v := w
		if lo != 0 || hi != m {
			v = pool.Get().(*workspace[T])
			defer pool.Put(v)
		}
		v.a = grow(v.a, mr*k)
		v.c = grow(v.c, mr*np*nr)
		for i := lo; i < hi; i += mr {
			rows := min(mr, hi-i)
			packA(v, i, rows, k, a)
			for p := range np {
				tile(v.c[p*nr:], np*nr, v.a, w.b[p*nr*k:(p+1)*nr*k], k)
			}
			for r := range rows {
				store(i+r, v.c[r*np*nr:r*np*nr+n])
			}
		}
	})
	pool.Put(w)
}

// packA lays rows i…i+rows of a out as k columns of mr values; missing rows are zero.
func packA[T Float](w *workspace[T], i, rows, k int, a Matrix[T]) {
	dst, buf := w.a, w.load[:]
	clear(dst)
	for r := range rows {
		for p := 0; p < k; p += len(buf) {
			c := min(len(buf), k-p)
			a.Load(buf[:c], a.Off+(i+r)*a.Row+p*a.Col, a.Col)
			for x, v := range buf[:c] {
				dst[(p+x)*mr+r] = v
			}
		}
	}
}

// packB lays b out as panels of nr columns, each k rows of nr values; missing columns are zero.
func packB[T Float](w *workspace[T], n, k int, b Matrix[T]) {
	dst, buf := w.b, w.load[:]
	if b.Col == 1 {
		for p := range k {
			for j := 0; j < n; j += len(buf) {
				c := min(len(buf), n-j)
				b.Load(buf[:c], b.Off+p*b.Row+j, 1)
				for x, v := range buf[:c] {
					jj := j + x
					dst[(jj/nr*k+p)*nr+jj%nr] = v
				}
			}
		}
	} else {
		for j := range n {
			for p := 0; p < k; p += len(buf) {
				c := min(len(buf), k-p)
				b.Load(buf[:c], b.Off+p*b.Row+j*b.Col, b.Row)
				base := j/nr*k*nr + j%nr
				for x, v := range buf[:c] {
					dst[base+(p+x)*nr] = v
				}
			}
		}
	}
	if r := n % nr; r != 0 {
		last := n / nr * k * nr
		for p := range k {
			clear(dst[last+p*nr+r : last+(p+1)*nr])
		}
	}
}

// tile sets the mr×nr block of c (row stride ldc) to the product of one packed panel of a and one of b.
func tile[T Float](c []T, ldc int, a, b []T, k int) {
	var c00, c01, c02, c03, c10, c11, c12, c13 T
	var c20, c21, c22, c23, c30, c31, c32, c33 T
	a, b = a[:k*mr], b[:k*nr]
	for len(a) >= mr && len(b) >= nr {
		b0, b1, b2, b3 := b[0], b[1], b[2], b[3]
		a0, a1, a2, a3 := a[0], a[1], a[2], a[3]
		c00 += a0 * b0
		c01 += a0 * b1
		c02 += a0 * b2
		c03 += a0 * b3
		c10 += a1 * b0
		c11 += a1 * b1
		c12 += a1 * b2
		c13 += a1 * b3
		c20 += a2 * b0
		c21 += a2 * b1
		c22 += a2 * b2
		c23 += a2 * b3
		c30 += a3 * b0
		c31 += a3 * b1
		c32 += a3 * b2
		c33 += a3 * b3
		a, b = a[mr:], b[nr:]
	}
	r := c[:nr:nr]
	r[0], r[1], r[2], r[3] = c00, c01, c02, c03
	r = c[ldc : ldc+nr : ldc+nr]
	r[0], r[1], r[2], r[3] = c10, c11, c12, c13
	r = c[2*ldc : 2*ldc+nr : 2*ldc+nr]
	r[0], r[1], r[2], r[3] = c20, c21, c22, c23
	r = c[3*ldc : 3*ldc+nr : 3*ldc+nr]
	r[0], r[1], r[2], r[3] = c30, c31, c32, c33
}
