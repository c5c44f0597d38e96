"""QR factors, eigenvalues, singular values, and what is made of them. Vectors are compared without their signs, which nothing determines."""

import torch

from ops_dense import Hilbert, M
from vectors import Case, U


class Apart(U):
    """Matrices with 2, 4, 6 … added to the diagonal: eigenvalues and singular values are apart. symmetric adds the transposed matrix first."""

    def __init__(self, *shape, symmetric=False):
        super().__init__(-1, 1, *shape)
        self.symmetric = symmetric

    def draw(self, gen):
        x = super().draw(gen)
        if self.symmetric:
            x = (x + x.mT) / 2
        m, n = self.shape[-2:]
        return x + 2 * torch.eye(m, n, dtype=torch.float64) * torch.arange(1, m + 1, dtype=torch.float64)[:, None]


def qr(x, mode):
    return tuple(torch.linalg.qr(x, mode))


def eigh(x, upper):
    w, v = torch.linalg.eigh(x, "U" if upper else "L")
    return w, v.abs()


def eigvalsh(x, upper):
    return torch.linalg.eigvalsh(x, "U" if upper else "L")


def svd(x, full):
    u, s, vh = torch.linalg.svd(x, full_matrices=full)
    k = s.shape[-1]
    return u[..., :k].abs(), s, vh[..., :k, :].abs()


def lstsq(a, b):
    return torch.linalg.lstsq(a, b).solution


def cond(x, p):
    return torch.linalg.cond(x, p)


def cases():
    symmetric = lambda *s: Apart(*s, symmetric=True)
    return [
        Case("linalg_qr", qr, [M(3, 3, plus=2.5)], mode="reduced"),
        Case("linalg_qr", qr, [M(2, 5, 3)], name="tall", mode="reduced"),
        Case("linalg_qr", qr, [M(2, 2, 4)], name="wide", mode="reduced"),
        Case("linalg_qr", qr, [M(2, 3)], name="complete", mode="complete"),
        Case("linalg_qr", qr, [M(1, 1)], name="one", mode="complete"),
        Case("linalg_eigh", eigh, [symmetric(4, 4)], upper=False),
        Case("linalg_eigh", eigh, [symmetric(2, 3, 3)], name="upper", upper=True),
        Case("linalg_eigh", eigh, [symmetric(1, 1)], name="one", upper=False),
        Case("linalg_eigvalsh", eigvalsh, [symmetric(2, 4, 4)], upper=False),
        Case("linalg_eigvalsh", eigvalsh, [Hilbert(4)], name="hilbert", only=["float32"], upper=True),
        Case("linalg_svd", svd, [Apart(4, 4)], full=False),
        Case("linalg_svd", svd, [Apart(2, 4, 3)], name="tall", full=False),
        Case("linalg_svd", svd, [Apart(2, 2, 4)], name="wide", full=True),
        Case("linalg_svd", svd, [Apart(1, 1)], name="one", full=False),
        Case("linalg_lstsq", lstsq, [Apart(2, 4, 3), M(2, 4, 2)], only=["float32"]),
        Case("linalg_lstsq", lstsq, [Apart(2, 4), M(2, 1)], name="wide", only=["float32"]),
        Case("linalg_pinv", torch.linalg.pinv, [Apart(2, 4, 3)], only=["float32"]),
        Case("linalg_cond", cond, [Apart(2, 3, 3)], only=["float32"], p=2),
        Case("nuclear_norm", torch.nuclear_norm, [Apart(4, 3)], only=["float32"]),
        Case("linalg_svdvals", torch.linalg.svdvals, [Apart(2, 3, 5)]),
        Case("linalg_svdvals", torch.linalg.svdvals, [Hilbert(4)], name="hilbert", only=["float32"]),
    ]
