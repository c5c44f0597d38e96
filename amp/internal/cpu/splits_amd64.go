package cpu

func splitRows(f Format, parts, rows, n int, factor float32, src []float32, lds int, dst []uint16, ldd, part int) {
	switch {
	case f == F16:
		splitRowsF16x2(rows, n, &factor, &src[0], 4*lds, &dst[0], 2*ldd, 2*part)
	case parts == 3:
		splitRowsBF16x3(rows, n, &factor, &src[0], 4*lds, &dst[0], 2*ldd, 2*part)
	default:
		splitRowsBF16x2(rows, n, &factor, &src[0], 4*lds, &dst[0], 2*ldd, 2*part)
	}
}

func splitPairs(pairs, n int, src []float32, lds int, dst []uint32, ldd, part int) {
	splitPairsBF16(pairs, n, &src[0], 4*lds, &dst[0], 4*ldd, 4*part)
}

func halveF16(high, low, src []uint16) {
	halveF16Z(len(src), &src[0], &high[0], &low[0])
}
