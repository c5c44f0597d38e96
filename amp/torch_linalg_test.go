package amp

import "maps"

func init() {
	maps.Copy(torchCalls, map[string]torchCall{
		"einsum":    torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor { return Einsum(s, a.string("equation"), x...) }),
		"multi_dot": torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor { return MultiDot(s, x...) }),
		"outer":     torchBinary(Outer), "inner": torchBinary(Inner), "kron": torchBinary(Kron),
		"cross":  torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor { return Cross(s, x[0], x[1], a.int("dim")) }),
		"vecdot": torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor { return Vecdot(s, x[0], x[1], a.int("dim")) }),
		"tensordot": torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor {
			if a.has("dims") {
				return TensordotN(s, x[0], x[1], a.int("dims"))
			}
			return Tensordot(s, x[0], x[1], a.ints("left"), a.ints("right"))
		}),
		"bilinear": torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor {
			return Bilinear(s, x[0], x[1], x[2], x[3])
		}),
		"vdot":           torchBinary(Vdot),
		"frobenius_norm": torchReduction(FrobeniusNorm),
		"linalg_matrix_norm": torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor {
			return MatrixNorm(s, x[0], a.string("ord"), a.ints("dim"), false)
		}),
		"renorm": torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor {
			return Renorm(s, x[0], a.float("p"), a.int("dim"), a.float("maxnorm"))
		}),
		"trace": torchUnary(MatrixTrace),
		"erfc":  torchUnary(Erfc), "hypot": torchBinary(Hypot), "logaddexp": torchBinary(LogAddExp),
		"diagonal": torchOne(func(s *Scope, a torchArgs, x []*Tensor) *Tensor { return Diagonal(s, x[0], a.int("offset"), 0, 1) }),
	})
}
