"""Normalizations."""

import torch
import torch.nn.functional as F

from vectors import Case, U


def rms_norm(x, weight, shape, eps):
    return F.rms_norm(x, shape, weight, eps)


def batch_norm(x, weight, bias, eps):
    return F.batch_norm(x, None, None, weight, bias, True, 0.1, eps)


def batch_norm_running(x, weight, bias, mean, var, eps, momentum):
    """Training with running statistics, which come back as results of their own."""
    mean, var = mean.clone(), var.clone()
    y = F.batch_norm(x, mean, var, weight, bias, True, momentum, eps)
    return y, mean, var


def batch_norm_eval(x, weight, bias, mean, var, eps):
    return F.batch_norm(x, mean, var, weight, bias, False, 0.1, eps)


def cases():
    w, b = U(0.5, 1.5, 6), U(-1, 1, 6)
    w3, b3 = U(0.5, 1.5, 3), U(-1, 1, 3)
    mean3, var3 = U(-1, 1, 3, grad=False), U(0.5, 2, 3, grad=False)
    out = [
        Case("layer_norm", lambda x, w, b, shape, eps: F.layer_norm(x, shape, w, b, eps), [U(-2, 2, 3, 6), w, b], name="affine", shape=[6], eps=1e-5),
        Case("layer_norm", lambda x, w, b, shape, eps: F.layer_norm(x, shape, w, b, eps), [U(-2, 2, 2, 3, 4), U(0.5, 1.5, 3, 4), None], name="two", shape=[3, 4], eps=1e-5),
        Case("layer_norm", lambda x, w, b, shape, eps: F.layer_norm(x, shape, w, b, eps), [U(-2, 2, 3, 6), None, None], name="bare", shape=[6], eps=1e-3),
        Case("layer_norm", lambda x, w, b, shape, eps: F.layer_norm(x, shape, w, b, eps), [U(7, 9, 2, 16), None, None], name="offset", shape=[16], eps=1e-5),
        Case("rms_norm", rms_norm, [U(-2, 2, 3, 6), w], name="weight", shape=[6], eps=1e-5),
        Case("rms_norm", rms_norm, [U(-2, 2, 3, 6), None], name="bare", shape=[6], eps=1e-3),
        Case("group_norm", lambda x, w, b, num_groups, eps: F.group_norm(x, num_groups, w, b, eps), [U(-2, 2, 2, 6, 3), w, b], name="affine", num_groups=3, eps=1e-5),
        Case("group_norm", lambda x, w, b, num_groups, eps: F.group_norm(x, num_groups, w, b, eps), [U(-2, 2, 2, 4, 2, 2), None, None], name="bare", num_groups=2, eps=1e-5),
        Case("instance_norm", lambda x, w, b, eps: F.instance_norm(x, None, None, w, b, True, 0.1, eps), [U(-2, 2, 2, 3, 5), w3, b3], name="affine", eps=1e-5),
        Case("instance_norm", lambda x, w, b, eps: F.instance_norm(x, None, None, w, b, True, 0.1, eps), [U(-2, 2, 2, 2, 3, 3), None, None], name="bare", eps=1e-5),
        Case("batch_norm", batch_norm, [U(-2, 2, 4, 3), w3, b3], name="1d", eps=1e-5),
        Case("batch_norm", batch_norm, [U(-2, 2, 2, 3, 5), w3, b3], name="1d sequence", eps=1e-5),
        Case("batch_norm", batch_norm, [U(-2, 2, 2, 3, 2, 3), w3, b3], name="2d", eps=1e-5),
        Case("batch_norm", batch_norm, [U(-2, 2, 2, 3, 2, 3), None, None], name="bare", eps=1e-3),
        Case("batch_norm_running", batch_norm_running, [U(-2, 2, 3, 3, 2, 2), w3, b3, mean3, var3], eps=1e-5, momentum=0.1, only=["float32"]),
        Case("batch_norm_eval", batch_norm_eval, [U(-2, 2, 2, 3, 2, 3), w3, b3, mean3, var3], eps=1e-5),
        Case("renorm", torch.renorm, [U(-2, 2, 4, 5)], p=2.0, dim=0, maxnorm=2.0),
    ]
    return out
