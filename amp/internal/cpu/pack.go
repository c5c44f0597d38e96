package cpu

// packA lays rows i… of a out as panels for the kernel, k steps from p on; missing rows are zero.
func (g *product[T]) packA(w *workspace[T], i, rows, p, k int) {
	kn := g.kern
	w.a = grow(w.a, up(rows, kn.rows)*k)
	if kn.packA != nil {
		for y := 0; y < rows; y += kn.rows {
			high := min(kn.rows, rows-y)
			kn.packA(g, w, w.a[y*k:], high, p, k, i+y)
		}
		return
	}
	if g.a.Row == 1 && g.a.Elems == nil && g.a.inMemory() && variant() != AVX512 {
		g.packColumns(w, i, rows, p, k)
		return
	}
	y := 0
	if g.a.Row == 1 {
		y = kn.rows * packMany(w.a, kn.rows, rows/kn.rows, k, &g.a, g.a.Off+i+p*g.a.Col, g.a.Col)
	}
	for ; y < rows; y += kn.rows {
		high := min(kn.rows, rows-y)
		if t := g.a.Table; t != nil {
			packTable(w.a[y*k:], kn.height(high), t.Src, t.Col[p:p+k], t.Row[i+y:i+y+high])
			continue
		}
		w.pack(w.a[y*k:], kn.height(high), high, k, &g.a, g.a.Off+(i+y)*g.a.Row+p*g.a.Col, g.a.Row, g.a.Col)
	}
}

// packColumns is packA for halves whose rows are neighbors: all rows of a step are widened in one go.
func (g *product[T]) packColumns(w *workspace[T], i, rows, p, k int) {
	most := len(w.lines) / g.kern.rows * g.kern.rows
	for y := 0; y < rows; y += most {
		g.packSomeColumns(w, w.a[y*k:], i+y, min(most, rows-y), p, k)
	}
}

// packSomeColumns is packColumns for no more rows than w.lines holds.
func (g *product[T]) packSomeColumns(w *workspace[T], to []T, i, rows, p, k int) {
	kn := g.kern
	steps := max(1, len(w.lines)/rows)
	for q := 0; q < k; q += steps {
		c := min(steps, k-q)
		g.a.fetchRows(w.lines[:c*rows], rows, g.a.Off+i+(p+q)*g.a.Col, g.a.Col)
		y := kn.rows * copyPanels(to[q*kn.rows:], kn.rows, k, w.lines[:c*rows], rows, c)
		for ; y < rows; y += kn.rows {
			high := min(kn.rows, rows-y)
			h := kn.height(high)
			dst := to[y*k+q*h:]
			if high < h {
				clear(dst[:h*c])
			}
			copyRows(dst, h, w.lines[y:], rows, high, c)
		}
	}
}

// packGrain is how many elements to pack are worth a worker.
const packGrain = 1 << 14

// packB lays columns jc… of b out as panels, steps of k from ps on; missing columns are zero.
func (g *product[T]) packB(jc, cols, ps, steps int) {
	nr := g.kern.cols
	group := nr // columns packed together
	if g.b.Load != nil && g.b.Col == 1 && g.b.Table == nil {
		group = up(line, nr) // Load may do much per call
	} else if g.b.Col == 1 && (g.b.Elems != nil || g.b.inMemory() && variant() == AVX2) {
		group = nr * max(1, min(8, cols/nr/4)) // rows of b are read in longer runs
	}
	groups := (cols + group - 1) / group
	spread(groups, packGrain/(group*steps), g.home, func(w *workspace[T], t int) {
		j := t * group
		wide := min(group, cols-j)
		if off := g.b.Off + ps*g.b.Row + (jc+j)*g.b.Col; g.b.Load != nil && g.b.Table == nil && group > nr {
			w.packRuns(g.packed[j*steps:], nr, wide, steps, &g.b, off, g.b.Row)
		} else {
			g.packColumnsB(w, g.packed[j*steps:], jc+j, wide, ps, steps)
		}
	})
}

// packColumnsB packs columns j… of b, steps of k from p on, as panels that follow each other.
func (g *product[T]) packColumnsB(w *workspace[T], dst []T, j, cols, p, steps int) {
	nr := g.kern.cols
	off, many := g.b.Off+p*g.b.Row+j*g.b.Col, 0
	if g.b.Col == 1 && g.kern.packB == nil && g.b.Table == nil {
		many = nr * packMany(dst, nr, cols/nr, steps, &g.b, off, g.b.Row)
	}
	for ; many < cols; many += nr {
		d, wide := dst[many*steps:], min(nr, cols-many)
		switch x := g.b.Table; {
		case g.kern.packB != nil:
			g.kern.packB(g, w, d, wide, p, steps, j+many)
		case x != nil:
			packTable(d, nr, x.Src, x.Row[p:p+steps], x.Col[j+many:j+many+wide])
		default:
			w.pack(d, nr, wide, steps, &g.b, off+many*g.b.Col, g.b.Col, g.b.Row)
		}
	}
}

// packRuns packs several panels whose k rows Load reads in one run each.
func (w *workspace[T]) packRuns(dst []T, width, have, k int, x *Matrix[T], off, sp int) {
	for p := range k {
		run := w.lines[:have]
		x.Load(run, off+p*sp, 1)
		for j := 0; j < have; j += width {
			d := dst[j*k+p*width:][:width]
			clear(d[copy(d, run[j:min(j+width, have)]):])
		}
	}
}

// pack sets dst[p*width+y] to the element of x at off + y*sy + p*sp, for y below have and p below k, and to 0 for y from have on.
func (w *workspace[T]) pack(dst []T, width, have, k int, x *Matrix[T], off, sy, sp int) {
	if d, ok := any(dst).([]float32); ok && packWide(d, width, have, k, any(x).(*Matrix[float32]), off, sy, sp) {
		return
	}
	if have < width {
		clear(dst[:width*k])
	}
	if sy == 1 && x.Elems != nil && sp >= 0 {
		copyRows(dst, width, x.Elems[off:], sp, have, k)
		return
	}
	if h := x.halves(); sy == 1 && h != nil && sp >= 0 {
		widenRows(any(dst).([]float32), width, h[off:], sp, k, have, x.F16 != nil)
		return
	}
	if sy == 1 && x.inMemory() {
		for p := range k {
			x.fetch(dst[p*width:p*width+have], off+p*sp, 1)
		}
		return
	}
	if x.Elems != nil && sp == 1 {
		transpose(dst, width, have, k, x.Elems, off, sy)
		return
	}
	for y := 0; y < have; y += 4 {
		high := min(4, have-y)
		for p := 0; p < k; p += line {
			c := min(line, k-p)
			for r := range high {
				x.fetch(w.lines[r*line:r*line+c], off+(y+r)*sy+p*sp, sp)
			}
			transpose(dst[p*width+y:], width, high, c, w.lines[:], 0, line)
		}
	}
}

func (x *Matrix[T]) inMemory() bool { return x.Elems != nil || x.F16 != nil || x.BF16 != nil }

// fetch sets dst to elements of x that start at off and lie stride apart.
func (x *Matrix[T]) fetch(dst []T, off, stride int) {
	switch {
	case x.Elems != nil:
		if stride == 1 {
			copy(dst, x.Elems[off:off+len(dst)])
			return
		}
		for i := range dst {
			dst[i] = x.Elems[off+i*stride]
		}
	case x.F16 != nil:
		if d, ok := any(dst).([]float32); ok && stride == 1 {
			WidenF16(d, x.F16[off:off+len(dst)])
			return
		}
		for i := range dst {
			dst[i] = T(F16ToF32(x.F16[off+i*stride]))
		}
	case x.BF16 != nil:
		if d, ok := any(dst).([]float32); ok && stride == 1 {
			WidenBF16(d, x.BF16[off:off+len(dst)])
			return
		}
		for i := range dst {
			dst[i] = T(BF16ToF32(x.BF16[off+i*stride]))
		}
	default:
		x.Load(dst, off, stride)
	}
}

// fetchRows sets rows of dst, n elements each, to elements of x that lie side by side, the first of the first row at off and rows sp apart.
func (x *Matrix[T]) fetchRows(dst []T, n, off, sp int) {
	if d, ok := any(dst).([]float32); ok && sp >= 0 {
		if h := x.halves(); h != nil {
			widenRows(d, n, h[off:], sp, len(d)/n, n, x.F16 != nil)
			return
		}
	}
	for ; len(dst) > 0; dst = dst[n:] {
		x.fetch(dst[:n], off, 1)
		off += sp
	}
}

// Turn writes rows of k numbers, which lie row apart in src, as columns of dst, whose rows lie width apart.
func Turn(dst []float32, width, rows, k int, src []float32, row int) {
	transpose(dst, width, rows, k, src, 0, row)
}

// transpose is pack for elements in memory that lie side by side along k.
func transpose[T Float](dst []T, width, have, k int, src []T, off, sy int) {
	y := 0
	if d, ok := any(dst).([]float32); ok {
		y = transposePanel(d, width, have, k, any(src).([]float32)[off:], sy)
	}
	for y < have {
		rows, done := 1, 0 // steps of k
		switch from := src[off+y*sy:]; {
		case y+4 <= have:
			rows, done = 4, transpose4(dst[y:], width, from, sy, k)
		case y+2 <= have:
			rows, done = 2, transpose2(dst[y:], width, from, sy, k)
		}
		for end := y + rows; y < end; y++ {
			for q, v := range src[off+y*sy+done : off+y*sy+k] {
				dst[(done+q)*width+y] = v
			}
		}
	}
}
