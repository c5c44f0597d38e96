"""Losses and distances."""

import torch
import torch.nn.functional as F

from vectors import Case, D, T, U

REDUCTIONS = ("mean", "sum", "none")


def reduced(op, fn, inputs, name="", reductions=REDUCTIONS, **args):
    return [Case(op, fn, inputs, name=(name + " " + r).strip(), reduction=r, **args) for r in reductions]


def gaussian_nll(x, t, v, reduction, full, eps):
    return F.gaussian_nll_loss(x, t, v, full=full, eps=eps, reduction=reduction)


def ctc():
    """Both layouts of the targets, repeated labels, none, fewer steps than there are, and a target that does not fit its steps."""
    rows, flat = T([[1, 2, 2], [3, 3, 3], [2, 0, 0]]), T([1, 1, 2, 3, 1])
    out = reduced("ctc_loss", F.ctc_loss, [U(-4, 0, 6, 3, 4), rows, T([6, 5, 4]), T([3, 2, 0])], blank=0, zero_infinity=False)
    out += reduced("ctc_loss", F.ctc_loss, [U(-4, 0, 5, 3, 4), flat, T([5, 3, 5]), T([2, 0, 3])], name="list", blank=0, zero_infinity=False)
    out += reduced("ctc_loss", F.ctc_loss, [U(-4, 0, 5, 3, 4), T([[1, 2], [0, 0], [2, 1]]), T([5, 2, 3]), T([2, 2, 1])], name="zeroed", blank=3, zero_infinity=True)
    out += reduced("ctc_loss", F.ctc_loss, [U(-4, 0, 5, 4), T([1, 1]), T(4), T(2)], name="one", blank=0, zero_infinity=False)
    return out


def cases():
    x, t = U(-2, 2, 3, 4), U(-2, 2, 3, 4)
    signs = T([[1, -1, 1, -1], [-1, -1, 1, 1], [1, 1, -1, -1]])

    def signed(f):
        """The target, ±1, in the dtype of x."""
        return lambda x, y, **a: f(x, y.to(x.dtype), **a)

    def signed3(f):
        return lambda a, b, y, **k: f(a, b, y.to(a.dtype), **k)

    out = reduced("mse_loss", F.mse_loss, [x, t]) + reduced("l1_loss", F.l1_loss, [x, t])
    out += reduced("smooth_l1_loss", F.smooth_l1_loss, [x, t], beta=0.8) + reduced("huber_loss", F.huber_loss, [x, t], delta=0.7)
    out += reduced("binary_cross_entropy_with_logits", F.binary_cross_entropy_with_logits, [U(-5, 5, 3, 4), U(0, 1, 3, 4)])
    out += reduced("binary_cross_entropy", F.binary_cross_entropy, [U(0.1, 0.9, 3, 4), U(0, 1, 3, 4)])
    out += reduced("binary_cross_entropy_with_logits", lambda x, t, w, p, reduction: F.binary_cross_entropy_with_logits(x, t, w, reduction=reduction, pos_weight=p),
                   [U(-5, 5, 3, 4), U(0, 1, 3, 4), U(0.5, 2, 3, 4, grad=False), U(0.5, 2, 4, grad=False)], name="weighted", reductions=("mean",))
    labels = T([2, 0, -100, 1, 3])
    weight = U(0.5, 2, 4, grad=False)
    out += reduced("nll_loss", F.nll_loss, [U(-4, 0, 5, 4), labels]) + reduced("cross_entropy", F.cross_entropy, [U(-4, 4, 5, 4), labels])
    out += reduced("nll_loss", F.nll_loss, [U(-4, 0, 5, 4), labels, weight], name="weighted")
    out += reduced("nll_loss", F.nll_loss, [U(-4, 0, 2, 3, 4), T([[0, 2, 1, 1], [2, -100, 0, 1]])], name="2d", reductions=("mean", "none"))
    out += reduced("cross_entropy", F.cross_entropy, [U(-4, 4, 5, 4), labels, weight], name="weighted")
    out += reduced("cross_entropy", F.cross_entropy, [U(-4, 4, 5, 4), labels], name="smoothed", label_smoothing=0.1)
    out += reduced("cross_entropy", F.cross_entropy, [U(-4, 4, 5, 4), labels, weight], name="weighted smoothed", reductions=("mean",), label_smoothing=0.1)
    out += reduced("cross_entropy", F.cross_entropy, [U(-4, 4, 3, 4), U(0, 1, 3, 4)], name="probabilities")
    out += reduced("cross_entropy", F.cross_entropy, [U(-4, 4, 2, 3, 4), T([[0, 2, 1, 1], [2, -100, 0, 1]])], name="2d", reductions=("mean", "none"))
    out += reduced("kl_div", F.kl_div, [U(-4, 0, 3, 4), U(0.05, 1, 3, 4)], reductions=("mean", "sum", "none", "batchmean"))
    out += reduced("kl_div", F.kl_div, [U(-4, 0, 3, 4), U(-4, 0, 3, 4)], name="log", log_target=True)
    out += reduced("poisson_nll_loss", F.poisson_nll_loss, [U(-2, 2, 3, 4), U(0, 4, 3, 4, grad=False)], log_input=True, full=False)
    out += reduced("poisson_nll_loss", F.poisson_nll_loss, [U(0.5, 3, 3, 4), U(0, 4, 3, 4, grad=False)], name="rate full", reductions=("mean",), log_input=False, full=True, eps=1e-8)
    out += reduced("gaussian_nll_loss", gaussian_nll, [x, t, U(0.3, 2, 3, 4)], full=False, eps=1e-6)
    out += reduced("gaussian_nll_loss", gaussian_nll, [x, t, U(0.3, 2, 3, 4)], name="full", reductions=("mean",), full=True, eps=1e-6)
    out += reduced("hinge_embedding_loss", signed(F.hinge_embedding_loss), [U(-2, 2, 3, 4), signs], margin=1.0)
    out += reduced("soft_margin_loss", signed(F.soft_margin_loss), [U(-3, 3, 3, 4), signs])
    out += reduced("margin_ranking_loss", signed3(F.margin_ranking_loss), [U(-2, 2, 4), U(-2, 2, 4), T([1, -1, -1, 1])], margin=0.3)
    out += reduced("cosine_embedding_loss", signed3(F.cosine_embedding_loss), [U(-2, 2, 4, 5), U(-2, 2, 4, 5), T([1, -1, -1, 1])], margin=-0.5)
    out += reduced("triplet_margin_loss", F.triplet_margin_loss, [U(-2, 2, 4, 5), U(-2, 2, 4, 5), U(-2, 2, 4, 5)], margin=1.0)
    out += reduced("triplet_margin_loss", F.triplet_margin_loss, [U(-2, 2, 4, 5), U(-2, 2, 4, 5), U(-2, 2, 4, 5)], name="swap", reductions=("mean",), margin=1.5, swap=True)
    out += reduced("multi_margin_loss", F.multi_margin_loss, [U(-2, 2, 4, 5), T([1, 0, 4, 2])], margin=1.0, p=1)
    out += reduced("multi_margin_loss", F.multi_margin_loss, [U(-2, 2, 4, 5), T([1, 0, 4, 2])], name="square", margin=0.8, p=2)
    out += reduced("multilabel_margin_loss", F.multilabel_margin_loss, [U(-2, 2, 3, 4), T([[1, 3, -1, 0], [0, -1, 2, 2], [3, 2, 1, -1]])])
    out += reduced("multilabel_soft_margin_loss", lambda x, y, reduction: F.multilabel_soft_margin_loss(x, y.to(x.dtype), reduction=reduction),
                   [U(-3, 3, 3, 4), T([[1, 0, 1, 0], [0, 0, 1, 1], [1, 1, 0, 0]])])
    out += ctc()
    out += [
        Case("cosine_similarity", F.cosine_similarity, [U(-2, 2, 4, 5), U(-2, 2, 4, 5)], dim=1, eps=1e-8),
        Case("cosine_similarity", F.cosine_similarity, [U(-2, 2, 3, 4), U(-2, 2, 3, 4)], name="first", dim=0, eps=1e-8),
        Case("pairwise_distance", F.pairwise_distance, [U(-2, 2, 4, 5), U(-2, 2, 4, 5)], p=2.0, eps=1e-6),
        Case("cdist", torch.cdist, [U(-2, 2, 3, 4), U(-2, 2, 2, 4)], name="two", p=2.0),
        Case("cdist", torch.cdist, [U(-2, 2, 2, 3, 4), U(-2, 2, 2, 2, 4)], name="batch", p=2.0),
        Case("cdist", torch.cdist, [U(-2, 2, 3, 4), U(-2, 2, 2, 4)], name="one", p=1.0),
        Case("pdist", F.pdist, [U(-2, 2, 4, 3)], name="two", p=2.0),
        Case("pdist", F.pdist, [U(-2, 2, 4, 3)], name="one", p=1.0),
        Case("dist", torch.dist, [U(-2, 2, 3, 4), U(-2, 2, 3, 4)], name="two", p=2.0),
        Case("dist", torch.dist, [U(-2, 2, 3, 4), U(-2, 2, 3, 4)], name="three", p=3.0),
    ]
    return out
