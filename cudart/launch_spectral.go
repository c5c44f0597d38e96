package cudart

import "github.com/halftone-ml/halftone/amp"

// Launches of QR factors, eigenvalues and singular values (kernels/spectral.cu).

func init() {
	register(launchQR, "qr_packed")
	register(launchEigh, "eigh_packed")
	register(launchSVD, "svd_packed")
	register(launchPinv, "pinv_apply")
}

// matrix lays out the matrices of input 0, and returns their sizes.
func (l *launcher) matrix() (m, n int, ok bool) {
	x, p := &l.in[0], &l.factorArgs
	if !p.lay(&l.out, x, nil) || !countable(x.shape[x.rank-1]) {
		return 0, 0, false
	}
	m, n = x.shape[x.rank-2], x.shape[x.rank-1]
	p.m = int32(n)
	return m, n, true
}

func launchQR(l *launcher) bool {
	m, n, ok := l.matrix()
	if !ok {
		return false
	}
	p := &l.factorArgs
	p.cols, p.kept = int32(l.c.Shape[0]), int32(l.c.Shape[1])
	return l.factor("qr", l.in[0].dt, p.batches, max(n, int(p.cols)), m*n+min(m, n)+n)
}

func launchEigh(l *launcher) bool {
	_, n, ok := l.matrix()
	if !ok {
		return false
	}
	p := &l.factorArgs
	p.upper, p.kept = word(l.c.Reverse), word(l.out.shape[l.out.rank-1] > n)
	l.refuseSingular()
	return l.factor("eigh", l.in[0].dt, p.batches, n*n/4, 2*n*n+8*n)
}

func launchPinv(l *launcher) bool {
	a, b, factors, p := &l.in[0], &l.in[1], &l.in[2], &l.factorArgs
	m, n := a.shape[a.rank-2], a.shape[a.rank-1]
	if factors.dt != amp.Float64 || !countable(m, n, l.out.shape[l.out.rank-2]) || !p.lay(&l.out, factors, b) {
		return false
	}
	p.cols, p.kept, p.upper = int32(m), int32(n), word(l.c.Reverse)
	p.atol, p.rtol = l.c.Pair[0], l.c.Pair[1]
	return l.factor("pinv_apply", b.dt, p.columns(), max(m, n)*factorColumns, min(m, n)*int(p.m))
}

func launchSVD(l *launcher) bool {
	m, n, ok := l.matrix()
	if !ok {
		return false
	}
	p := &l.factorArgs
	p.cols, p.kept = int32(l.c.Shape[0]), int32(l.c.Shape[1])
	l.refuseSingular()
	tall, k, vectors := max(m, n), min(m, n), l.c.Shape[0]
	if m < n {
		vectors = l.c.Shape[1]
	}
	return l.factor("svd", l.in[0].dt, p.batches, max(tall, vectors), tall*k+tall*vectors+k*k+12*k)
}
