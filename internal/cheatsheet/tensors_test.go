package cheatsheet

import (
	"fmt"

	"github.com/halftone-ml/halftone/amp"
)

func Example_tensors() {
	s := amp.NewScope(amp.Seed(1))
	defer s.Close()

	// torch: x = torch.tensor([[1., 2.], [3., 4.]])
	x := amp.From([]float32{1, 2, 3, 4}, 2, 2)
	fmt.Println(x.Shape(), x.DType())

	// torch: torch.randn(64, 8)
	r := amp.Randn(s, amp.Float32, 0, 1, 64, 8)
	fmt.Println(r.Shape())

	// torch: torch.zeros(2, 2), torch.full((2, 2), 7.)
	z, f := amp.Zeros(s, amp.Float32, 2, 2), amp.Full(s, amp.Float32, 7, 2, 2)
	fmt.Println(z.Float64s(), f.Float64s())

	// torch: torch.manual_seed(1)
	again := amp.NewScope(amp.Seed(1))
	fmt.Println(amp.AllClose(r, amp.Randn(again, amp.Float32, 0, 1, 64, 8), 0, 0))

	// torch: x.half(), x.bfloat16(), x.float()
	h, b, w := amp.To(s, x, amp.Float16), amp.To(s, x, amp.BFloat16), amp.To(s, x, amp.Float32)
	fmt.Println(h.DType(), b.DType(), w.DType())

	// torch: x.item(), x.tolist()
	v, list := amp.Sum(s, x).Item(), x.Float64s()
	fmt.Println(v, list)

	// torch: x + y, x * y, 2 * x
	sum, product, twice := amp.Add(s, x, f), amp.Mul(s, x, f), amp.MulScalar(s, x, 2)
	fmt.Println(sum.Float64s(), product.Float64s(), twice.Float64s())

	// torch: x / y, x - 1, x / 4, x ** 2
	quotient, less := amp.Div(s, x, f), amp.AddScalar(s, x, -1)
	quarter, squared := amp.MulScalar(s, x, 1.0/4), amp.PowScalar(s, x, 2)
	fmt.Println(quotient.Shape(), less.Float64s(), quarter.Float64s(), squared.Float64s())

	// torch: i // 3, i % 3
	i, three := amp.From([]int64{7, -7}), amp.Full(s, amp.Int64, 3)
	whole, rest := amp.FloorDivide(s, i, three), amp.Remainder(s, i, three)
	fmt.Println(amp.Values[int64](whole), amp.Values[int64](rest))

	// torch: x.shape, x.dtype, x.device
	shape, kind, device := x.Shape(), x.DType(), x.Device()
	fmt.Println(shape, kind, device)

	// torch: x @ y
	m := amp.MatMul(s, x, f)
	fmt.Println(m.Float64s())

	// torch: x.sum(dim=1), x.mean(), x.max(dim=1)
	rows, mean := amp.Sum(s, x, 1), amp.Mean(s, x)
	largest, at := amp.Max(s, x, 1)
	fmt.Println(rows.Float64s(), mean.Item(), largest.Float64s(), at.Float64s())

	// torch: x.reshape(4), x.T, x[0]
	flat, transposed, first := amp.Reshape(s, x, 4), amp.Transpose(s, x, 0, 1), amp.Select(s, x, 0, 0)
	fmt.Println(flat.Shape(), transposed.Float64s(), first.Float64s())

	// torch: x[x > 2], torch.where(x > 2, x, 0)
	mask := amp.GtScalar(s, x, 2)
	chosen, kept := amp.Index(s, x, mask), amp.Where(s, mask, x, amp.Full(s, amp.Float32, 0))
	fmt.Println(chosen.Float64s(), kept.Float64s())

	// torch: torch.cat([x, y], dim=0), torch.stack([x, y])
	c, st := amp.Cat(s, 0, x, f), amp.Stack(s, 0, x, f)
	fmt.Println(c.Shape(), st.Shape())

	// torch: torch.einsum("ij,jk->ik", x, y)
	e := amp.Einsum(s, "ij,jk->ik", x, f)
	fmt.Println(e.Float64s())

	// torch: F.softmax(x, dim=1), F.relu(x)
	p, a := amp.Softmax(s, x, 1), amp.ReLU(s, x)
	fmt.Printf("%.2f %v\n", p.Float64s(), a.Float64s())

	// torch: torch.linalg.cholesky(a), torch.cholesky_solve(b, l)
	spd, one := amp.From([]float32{4, 2, 2, 2}, 2, 2), amp.From([]float32{4, 2}, 2, 1)
	l := amp.Cholesky(s, spd, false)
	fmt.Println(l.Float64s(), amp.CholeskySolve(s, one, l, false).Float64s())

	// torch: torch.linalg.solve(a, b), torch.linalg.inv(a)
	sol, inv := amp.Solve(s, spd, one), amp.Inv(s, spd)
	fmt.Println(sol.Float64s(), inv.Float64s())

	// torch: torch.linalg.solve_triangular(r, b, upper=True)
	tri := amp.SolveTriangular(s, spd, one, amp.Triangular{Upper: true})
	fmt.Println(tri.Float64s())

	// torch: torch.linalg.det(a), torch.linalg.slogdet(a), torch.linalg.lu_factor(a)
	det := amp.Det(s, spd)
	sign, logabsdet := amp.Slogdet(s, spd)
	lu, pivots := amp.LUFactor(s, spd)
	fmt.Println(det.Float64s(), sign.Float64s(), logabsdet.Shape(), lu.Float64s(), pivots.Float64s())

	// torch: torch.linalg.qr(a), torch.linalg.eigh(a), torch.linalg.svd(a)
	qf, rf := amp.QR(s, spd, "reduced")
	eigenvalues, eigenvectors := amp.Eigh(s, spd, false)
	uf, sv, vh := amp.SVD(s, spd, false)
	fmt.Println(qf.Shape(), rf.Shape(), eigenvalues.Shape(), eigenvectors.Shape(), uf.Shape(), sv.Shape(), vh.Shape())

	// torch: torch.linalg.lstsq(a, b).solution, torch.linalg.pinv(a), torch.linalg.matrix_rank(a), torch.linalg.cond(a)
	fitted := amp.Lstsq(s, spd, one, amp.Tolerance{}).Solution
	pinv := amp.Pinv(s, spd, amp.Tolerance{})
	rank, cond := amp.MatrixRank(s, spd, amp.Tolerance{}), amp.Cond(s, spd, "2")
	fmt.Printf("%v %.3f %v %.3f\n", fitted.Shape(), pinv.Float64s(), rank.Float64s(), cond.Float64s())
	// Output:
	// [2 2] float32
	// [64 8]
	// [0 0 0 0] [7 7 7 7]
	// true
	// float16 bfloat16 float32
	// 10 [1 2 3 4]
	// [8 9 10 11] [7 14 21 28] [2 4 6 8]
	// [2 2] [0 1 2 3] [0.25 0.5 0.75 1] [1 4 9 16]
	// [2 -3] [1 2]
	// [2 2] float32 cpu
	// [21 21 49 49]
	// [3 7] 2.5 [2 4] [1 1]
	// [4] [1 3 2 4] [1 2]
	// [3 4] [0 0 3 4]
	// [4 2] [2 2 2]
	// [21 21 49 49]
	// [0.27 0.73 0.27 0.73] [1 2 3 4]
	// [2 0 1 1] [1 0]
	// [1 0] [0.5 -0.5 -0.5 1]
	// [0.5 1]
	// [4] [1] [] [4 2 0.5 1] [1 2]
	// [2 2] [2 2] [2] [2 2] [2 2] [2] [2 2]
	// [2 1] [0.500 -0.500 -0.500 1.000] [2] [6.854]
}

func Example_gradients() {
	s := amp.NewScope()
	defer s.Close()

	// torch: w = torch.tensor([3.], requires_grad=True)
	w := amp.From([]float32{3}).RequireGrad()
	fmt.Println(w.RequiresGrad())

	// torch: (w * w).sum().backward()
	// torch: w.grad
	amp.Sum(s, amp.Mul(s, w, w)).Backward()
	g := w.Grad()
	fmt.Println(g.Float64s())

	// torch: loss.backward(retain_graph=True)
	loss := amp.Sum(s, amp.Mul(s, w, w))
	loss.Backward(amp.RetainGraph())
	loss.Backward()
	fmt.Println(w.Grad().Float64s())

	// torch: torch.autograd.grad(y, w, create_graph=True)
	y := amp.Sum(s, amp.PowScalar(s, w, 3))
	first := amp.Grad(s, []*amp.Tensor{y}, []*amp.Tensor{w}, amp.CreateGraph())
	second := amp.Grad(s, first, []*amp.Tensor{w})
	fmt.Println(first[0].Float64s(), second[0].Float64s())

	// torch: w.detach(), w.grad = None, w.requires_grad_(False)
	d := amp.Detach(s, w)
	w.ZeroGrad()
	w.Freeze()
	fmt.Println(d.RequiresGrad(), w.Grad() == nil, w.RequiresGrad())

	// torch: with torch.no_grad():
	quiet := s.NoGrad()
	fmt.Println(amp.Mul(quiet, amp.From([]float32{1}).RequireGrad(), d).RequiresGrad())
	// Output:
	// true
	// [6]
	// [18]
	// [27] [18]
	// false true false
	// false
}

func Example_inPlace() {
	s := amp.NewScope().NoGrad()
	defer s.Close()
	x, k := amp.Zeros(s, amp.Float32, 2, 2), amp.From([]float32{7, 8}, 2, 1)

	// torch: with torch.no_grad(): x[:, 1:2] = k
	amp.CopyInPlace(s, amp.Narrow(s, x, 1, 1, 1), k)
	fmt.Println(x.Float64s())

	// torch: x.diagonal().add_(1)
	amp.AddInPlace(s, amp.Diagonal(s, x, 0, 0, 1), amp.Full(s, amp.Float32, 1))
	fmt.Println(x.Float64s())

	// torch: x.T.copy_(y)
	y := amp.From([]int64{1, 2, 3, 4}, 2, 2)
	amp.Assign(amp.Transpose(s, x, 0, 1), y)
	fmt.Println(x.Float64s())
	// Output:
	// [0 7 0 8]
	// [1 7 0 9]
	// [1 3 2 4]
}

func Example_functions() {
	s := amp.NewScope(amp.Seed(1))
	defer s.Close()
	x, p := amp.From([]float32{1, 2, 3, 4}, 2, 2), amp.From([]float32{0, 1, 1})

	// torch: x.clone()
	c := amp.Clone(s, x)
	fmt.Println(c.Float64s())

	// torch: torch.nan_to_num(x), torch.nan_to_num(x, nan=3.)
	bad := amp.Log(s, amp.From([]float32{-1, 1}))
	n, m := amp.NanToNum(s, bad), amp.NanToNum(s, bad, 3)
	fmt.Println(n.Float64s(), m.Float64s())

	// torch: x.amax(1, keepdim=True), x.std(0, keepdim=True)
	most, std := amp.KeepDims(s, amp.Amax, x, 1), amp.KeepDims(s, amp.Std, x, 0)
	fmt.Println(most.Float64s(), std.Shape())

	// torch: torch.count_nonzero(x), torch.isclose(x, x + 1e-6), torch.diag_embed(v)
	some, close, diagonal := amp.CountNonzero(s, x), amp.IsClose(s, x, amp.AddScalar(s, x, 1e-6), 1e-5, 1e-8), amp.DiagEmbed(s, p, 0)
	fmt.Println(some.Item(), amp.All(s, close).Item(), diagonal.Shape())

	// torch: torch.lgamma(x), torch.digamma(x), torch.polygamma(1, x)
	lgamma, digamma, trigamma := amp.Lgamma(s, x), amp.Digamma(s, x), amp.Polygamma(s, 1, x)
	fmt.Printf("%.4f %.4f %.4f\n", lgamma.Float64s(), digamma.Float64s(), trigamma.Float64s())

	// torch: torch.bernoulli(p)
	b := amp.Bernoulli(s, p)
	fmt.Println(b.Float64s())

	// torch: torch.multinomial(p, 2)
	// torch: torch.multinomial(p, 5, replacement=True)
	few, five := amp.Multinomial(s, p, 2, false), amp.Multinomial(s, p, 5, true)
	fmt.Println(few.Shape(), five.Shape())

	// torch: torch.meshgrid(a, b, indexing="ij")
	grid := amp.Meshgrid(s, "ij", amp.From([]int64{1, 2}), amp.From([]int64{3, 4, 5}))
	fmt.Println(grid[0].Float64s(), grid[1].Float64s())

	// torch: torch.bincount(i), torch.bincount(i, weights=w)
	i, w := amp.From([]int64{0, 2, 2}), amp.From([]float32{1, 2, 3})
	counts, weighted := amp.Bincount(s, i, nil, -1), amp.Bincount(s, i, w, -1)
	fmt.Println(counts.Float64s(), weighted.Float64s())

	// torch: i & 2, i | 1, ~i, i << 3, mask_a ^ mask_b
	two, one, three := amp.Scalar(int64(2)), amp.Scalar(int64(1)), amp.Scalar(int64(3))
	and, or, not, shifted := amp.BitwiseAnd(s, i, two), amp.BitwiseOr(s, i, one), amp.BitwiseNot(s, i), amp.BitwiseLeftShift(s, i, three)
	either := amp.BitwiseXor(s, amp.Gt(s, i, one), amp.Eq(s, i, two))
	fmt.Println(and.Float64s(), or.Float64s(), not.Float64s(), shifted.Float64s(), either.DType())

	// torch: torch.unique(i, return_inverse=True, return_counts=True)
	values, inverse, often := amp.Unique(s, i)
	fmt.Println(values.Float64s(), inverse.Float64s(), often.Float64s())
	// Output:
	// [1 2 3 4]
	// [0 0] [3 0]
	// [2 4] [1 2]
	// 4 1 [3 3]
	// [0.0000 0.0000 0.6931 1.7918] [-0.5772 0.4228 0.9228 1.2561] [1.6449 0.6449 0.3949 0.2838]
	// [0 1 1]
	// [2] [5]
	// [1 1 1 2 2 2] [3 4 5 3 4 5]
	// [1 0 2] [1 0 5]
	// [0 2 2] [1 3 3] [-1 -3 -3] [0 16 16] bool
	// [0 2] [0 1 1] [1 2]
}

func Example_hooks() {
	s := amp.NewScope()
	defer s.Close()
	w := amp.From([]float32{1, 2}).RequireGrad()
	y := amp.Square(s, w)

	// torch: y.retain_grad()
	// torch: h = w.register_hook(lambda g: g * 10)
	y.RetainGrad()
	remove := w.RegisterHook(func(g *amp.Tensor) *amp.Tensor { return amp.MulScalar(s.NoGrad(), g, 10) })
	amp.Sum(s, y).Backward()
	fmt.Println(y.Grad().Float64s(), w.Grad().Float64s())

	// torch: h.remove()
	remove()
	amp.Sum(s, amp.Square(s, w)).Backward()
	fmt.Println(w.Grad().Float64s())
	// Output:
	// [1 1] [20 40]
	// [22 44]
}
