package cpu

func (r *ExpRows) run(f Format) {
	switch f {
	case F16:
		expRowsF16(r)
	case BF16:
		expRowsBF16(r)
	default:
		expRowsF32(r)
	}
}
