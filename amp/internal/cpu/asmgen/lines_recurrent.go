package main

// Lines of recurrent cells: the gates of one step and their gradients, from gates that were kept.

// slopeOfGate returns d·y·(1 - y) for a gate y = σ(…).
func (l *lineProg) slopeOfGate(d, y val) val { return l.mul(l.mul(d, y), l.sub(l.c(1), y)) }

// slopeOfTanh returns d·(1 - y²) for y = tanh(…).
func (l *lineProg) slopeOfTanh(d, y val) val { return l.mul(d, l.fnma(y, y, l.c(1))) }

var recurrentLines = []line{
	{"lineGate", "sets x0 to σ(x0 + x1).", nil, func(l *lineProg) { l.put(l.sigmoidF(l.add(l.line(0), l.line(1))), outSet, 0) }},
	{"lineTanhGate", "sets x0 to tanh(x0 + x1).", nil, func(l *lineProg) { l.put(l.tanhF(l.add(l.line(0), l.line(1))), outSet, 0) }},
	{"lineLSTM", "sets c' x5 = f·c + i·g and h' x6 = o·tanh c', for i, f, g and o x0 to x3 and c x4.", nil, func(l *lineProg) {
		next := l.add(l.mul(l.line(1), l.line(4)), l.mul(l.line(0), l.line(2)))
		l.put(next, outSet, 5)
		l.put(l.mul(l.tanhF(next), l.line(3)), outSet, 6)
	}},
	{"lineLSTMGradOut", "for t = tanh c', o and c' x0 and x1, and dh = x2 + x3: sets x5, the gradient of o before its σ, and adds dh·o·(1 - t²) to dc x4.", nil, func(l *lineProg) {
		dh := l.add(l.line(2), l.line(3))
		t, o := l.tanhF(l.line(1)), l.line(0)
		l.put(l.slopeOfGate(l.mul(dh, t), o), outSet, 5)
		l.put(l.add(l.line(4), l.slopeOfTanh(l.mul(dh, o), t)), outSet, 4)
	}},
	{"lineLSTMGradIn", "sets x3 and x4 to the gradients of i and g, x0 and x1, before σ and tanh, for dc x2.", nil, func(l *lineProg) {
		i, g, dc := l.line(0), l.line(1), l.line(2)
		l.put(l.slopeOfGate(l.mul(dc, g), i), outSet, 3)
		l.put(l.slopeOfTanh(l.mul(dc, i), g), outSet, 4)
	}},
	{"lineLSTMGradForget", "sets x3 to the gradient of f x0 before its σ, for c x1 and dc x2, and dc to dc·f.", nil, func(l *lineProg) {
		f, dc := l.line(0), l.line(2)
		l.put(l.slopeOfGate(l.mul(dc, l.line(1)), f), outSet, 3)
		l.put(l.mul(dc, f), outSet, 2)
	}},
	{"lineGRU", "sets n x0 = tanh(x0 + r·x3) and h' x5 = (h - n)·z + n, for r, z and h x1, x2 and x4.", nil, func(l *lineProg) {
		n := l.tanhF(l.add(l.line(0), l.mul(l.line(1), l.line(3))))
		l.put(n, outSet, 0)
		l.put(l.add(l.mul(l.sub(l.line(4), n), l.line(2)), n), outSet, 5)
	}},
	{"lineGRUGrad", "for dh x0, z, n and h x1 to x3: sets x4 and x5 to the gradients of z and n before σ and tanh, and dh to dh·z.", nil, func(l *lineProg) {
		dh, z, n := l.line(0), l.line(1), l.line(2)
		l.put(l.slopeOfGate(l.mul(dh, l.sub(l.line(3), n)), z), outSet, 4)
		l.put(l.slopeOfTanh(l.mul(dh, l.sub(l.c(1), z)), n), outSet, 5)
		l.put(l.mul(dh, z), outSet, 0)
	}},
	{"lineGRUGradReset", "sets x3 to the gradient of r before its σ and x4 to that of the product x2 that r multiplies, for the gradient x0 of their sum and r x1.", nil, func(l *lineProg) {
		d, r := l.line(0), l.line(1)
		l.put(l.slopeOfGate(l.mul(d, l.line(2)), r), outSet, 3)
		l.put(l.mul(d, r), outSet, 4)
	}},
}
