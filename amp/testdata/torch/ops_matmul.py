"""Products."""

import torch
import torch.nn.functional as F

from vectors import Case, U


def m(*shape):
    return U(-1, 1, *shape)


def einsum(name, equation, *operands):
    return Case("einsum", lambda *x, equation: torch.einsum(equation, *x), list(operands), name=name, equation=equation)


def cases():
    scaled = dict(beta=0.5, alpha=1.5)
    out = [
        Case("matmul", torch.matmul, [m(3, 7), m(7, 4)], name="2d"),
        Case("matmul", torch.matmul, [m(2, 33), m(33, 2)], name="long"),
        Case("matmul", torch.matmul, [m(2, 2, 5), m(5, 3)], name="batch times matrix"),
        Case("matmul", torch.matmul, [m(2, 1, 2, 3), m(2, 3, 2)], name="broadcast"),
        Case("matmul", torch.matmul, [m(9), m(9)], name="vectors"),
        Case("matmul", torch.matmul, [m(4, 9), m(9)], name="column"),
        Case("matmul", torch.matmul, [m(9), m(9, 3)], name="row"),
        Case("linear", F.linear, [m(3, 7), m(4, 7), m(4)], name="bias"),
        Case("linear", F.linear, [m(2, 2, 5), m(3, 5), m(3)], name="3d"),
        Case("linear", F.linear, [m(3, 7), m(4, 7), None], name="bare"),
        Case("linear", F.linear, [m(7), m(4, 7), m(4)], name="vector"),
        Case("mm", torch.mm, [m(3, 7), m(7, 4)]),
        Case("bmm", torch.bmm, [m(2, 3, 5), m(2, 5, 2)]),
        Case("mv", torch.mv, [m(4, 9), m(9)]),
        Case("dot", torch.dot, [m(13), m(13)]),
        Case("vdot", torch.vdot, [m(13), m(13)]),
        Case("addmm", lambda *x, beta, alpha: torch.addmm(*x, beta=beta, alpha=alpha), [m(3, 4), m(3, 7), m(7, 4)], name="full", **scaled),
        Case("addmm", lambda *x, beta, alpha: torch.addmm(*x, beta=beta, alpha=alpha), [m(4), m(3, 7), m(7, 4)], name="bias", **scaled),
        Case("addmv", lambda *x, beta, alpha: torch.addmv(*x, beta=beta, alpha=alpha), [m(4), m(4, 7), m(7)], **scaled),
        Case("addr", lambda *x, beta, alpha: torch.addr(*x, beta=beta, alpha=alpha), [m(3, 4), m(3), m(4)], **scaled),
        Case("addbmm", lambda *x, beta, alpha: torch.addbmm(*x, beta=beta, alpha=alpha), [m(3, 4), m(2, 3, 5), m(2, 5, 4)], **scaled),
        Case("baddbmm", lambda *x, beta, alpha: torch.baddbmm(*x, beta=beta, alpha=alpha), [m(2, 3, 4), m(2, 3, 5), m(2, 5, 4)], **scaled),
        Case("chain_matmul", lambda *x: torch.linalg.multi_dot(x), [m(2, 5), m(5, 3), m(3, 4)]),
        Case("multi_dot", lambda *x: torch.linalg.multi_dot(x), [m(4, 3), m(3, 6), m(6, 2), m(2, 3)]),
        Case("outer", torch.outer, [m(3), m(4)]),
        Case("inner", torch.inner, [m(2, 5), m(3, 5)]),
        Case("cross", lambda a, b, dim: torch.linalg.cross(a, b, dim=dim), [m(4, 3), m(4, 3)], dim=-1),
        Case("vecdot", lambda a, b, dim: torch.linalg.vecdot(a, b, dim=dim), [m(4, 6), m(4, 6)], dim=-1),
        Case("tensordot", lambda a, b, dims: torch.tensordot(a, b, dims=dims), [m(2, 3, 4), m(3, 4, 2)], name="number", dims=2),
        Case("tensordot", lambda a, b, left, right: torch.tensordot(a, b, dims=(left, right)), [m(2, 3, 4), m(4, 2, 3)], name="lists", left=[0, 2], right=[1, 0]),
        Case("kron", torch.kron, [m(2, 3), m(2, 2)]),
        Case("bilinear", F.bilinear, [m(3, 4), m(3, 2), m(3, 4, 2), m(3)], name="bias"),
        Case("bilinear", F.bilinear, [m(3, 4), m(3, 2), m(2, 4, 2), None], name="bare"),
        einsum("product", "ij,jk->ik", m(3, 5), m(5, 2)),
        einsum("batch", "bij,bjk->bik", m(2, 2, 4), m(2, 4, 3)),
        einsum("heads", "bqhd,bkhd->bhqk", m(1, 2, 2, 3), m(1, 3, 2, 3)),
        einsum("implicit", "ij,jk", m(3, 5), m(5, 2)),
        einsum("transpose", "ij->ji", m(3, 4)),
        einsum("sum", "ij->i", m(3, 6)),
        einsum("total", "ij->", m(3, 4)),
        einsum("outer", "i,j->ij", m(3), m(4)),
        einsum("diagonal", "ii->i", m(4, 4)),
        einsum("trace", "ii->", m(4, 4)),
        einsum("ellipsis", "...ij,...jk->...ik", m(2, 2, 3), m(2, 3, 2)),
        einsum("three", "ij,jk,kl->il", m(2, 3), m(3, 2), m(2, 3)),
        einsum("bilinear", "bn,anm,bm->ba", m(2, 3), m(2, 3, 2), m(2, 2)),
    ]
    return out
