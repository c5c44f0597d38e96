package amp

func init() {
	addTorch(map[string]torchCall{
		"linalg_qr": torchPair(func(s *Scope, a torchArgs, x []*Tensor) (*Tensor, *Tensor) { return QR(s, x[0], a.string("mode")) }),
		"linalg_eigh": torchPair(func(s *Scope, a torchArgs, x []*Tensor) (*Tensor, *Tensor) {
			w, v := Eigh(s, x[0], a.bool("upper"))
			return w, Abs(s, v)
		}),
		"linalg_eigvalsh": torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor { return Eigvalsh(s, x[0], a.bool("upper")) }),
		"linalg_svd": func(s *Scope, a torchArgs, x []*Tensor) []*Tensor {
			u, w, vh := SVD(s, x[0], a.bool("full"))
			k := w.Dim(-1)
			return []*Tensor{Abs(s, Narrow(s, u, -1, 0, k)), w, Abs(s, Narrow(s, vh, -2, 0, k))}
		},
		"linalg_svdvals": torchUnary(SVDVals),
		"linalg_lstsq":   torchBinary(func(s *Scope, a, b *Tensor) *Tensor { return Lstsq(s, a, b, Tolerance{}).Solution }),
		"linalg_pinv":    torchUnary(func(s *Scope, x *Tensor) *Tensor { return Pinv(s, x, Tolerance{}) }),
		"linalg_cond":    torchUnary(func(s *Scope, x *Tensor) *Tensor { return Cond(s, x, "2") }),
		"nuclear_norm":   torchUnary(NuclearNorm),
	})
}
