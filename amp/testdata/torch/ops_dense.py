"""Factors of matrices, and the systems that they solve. Halves have no numbers of torch, which refuses them."""

import torch

from vectors import Case, U


class M(U):
    """Matrices between lo and hi with a number added to the diagonal; symmetric if asked for."""

    def __init__(self, *shape, plus=0.0, symmetric=False):
        super().__init__(-1, 1, *shape)
        self.plus, self.symmetric = plus, symmetric

    def draw(self, gen):
        x = super().draw(gen)
        if self.symmetric:
            x = (x + x.mT) / 2
        return x + self.plus * torch.eye(*self.shape[-2:], dtype=torch.float64) if self.plus else x


class Hilbert(U):
    """1/(i + j + 1): the larger, the nearer to a singular matrix."""

    def __init__(self, n):
        super().__init__(0, 1, n, n)

    def draw(self, gen):
        i = torch.arange(self.shape[0], dtype=torch.float64)
        return 1 / (i[:, None] + i + 1)


def cholesky(x, upper):
    return torch.linalg.cholesky(x, upper=upper)


def triangle(l, upper):  # torch's gradients are not 0 where its results do not depend on a factor
    return l.triu() if upper else l.tril()


def cholesky_solve(b, l, upper):
    return torch.cholesky_solve(b, triangle(l, upper), upper=upper)


def cholesky_inverse(l, upper):
    return torch.cholesky_inverse(triangle(l, upper), upper=upper)


def triangular(a, b, upper, left, unitriangular):
    return torch.linalg.solve_triangular(a, b, upper=upper, left=left, unitriangular=unitriangular)


def lu_factor(x):
    lu, pivots = torch.linalg.lu_factor(x)
    return lu, pivots.long()


def cases():
    single = dict(only=["float32"])
    positive, regular = lambda *s: M(*s, plus=4, symmetric=True), lambda *s: M(*s, plus=2.5)
    ways = dict(upper=False, left=True, unitriangular=False)
    return [
        Case("linalg_cholesky", cholesky, [positive(4, 4)], upper=False),
        Case("linalg_cholesky", cholesky, [positive(2, 3, 3)], name="upper", upper=True),
        Case("linalg_cholesky", cholesky, [positive(1, 1)], name="one", upper=False),
        Case("linalg_cholesky", cholesky, [Hilbert(4)], name="hilbert", **single, upper=False),
        Case("linalg_solve_triangular", triangular, [regular(3, 3), M(3, 2)], name="lower", **ways),
        Case("linalg_solve_triangular", triangular, [regular(2, 3, 3), M(3, 2)], name="upper", **ways | dict(upper=True)),
        Case("linalg_solve_triangular", triangular, [regular(3, 3), M(2, 2, 3)], name="right", **ways | dict(left=False)),
        Case("linalg_solve_triangular", triangular, [regular(3, 3), M(3, 2)], name="unit", **ways | dict(upper=True, unitriangular=True)),
        Case("cholesky_solve", cholesky_solve, [M(3, 2), regular(3, 3)], upper=False),
        Case("cholesky_solve", cholesky_solve, [M(2, 3, 1), regular(2, 3, 3)], name="upper", upper=True),
        Case("cholesky_inverse", cholesky_inverse, [regular(3, 3)], upper=False),
        Case("cholesky_inverse", cholesky_inverse, [regular(2, 3, 3)], name="upper", upper=True),
        Case("linalg_lu_factor", lu_factor, [M(2, 4, 4)]),
        Case("linalg_solve", torch.linalg.solve, [M(4, 4), M(4, 2)]),
        Case("linalg_solve", torch.linalg.solve, [M(2, 3, 3), M(2, 3)], name="vectors"),
        Case("linalg_solve", torch.linalg.solve, [regular(2, 3, 3), M(3, 1)], name="broadcast"),
        Case("linalg_solve", torch.linalg.solve, [Hilbert(5), M(5)], name="hilbert", **single),
        Case("linalg_inv", torch.linalg.inv, [M(2, 3, 3)]),
        Case("linalg_inv", torch.linalg.inv, [Hilbert(4)], name="hilbert", **single),
        Case("linalg_det", torch.linalg.det, [M(2, 4, 4)]),
        Case("linalg_det", torch.linalg.det, [M(1, 1)], name="one"),
        Case("linalg_slogdet", torch.linalg.slogdet, [M(2, 4, 4)]),
    ]
