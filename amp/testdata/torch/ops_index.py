"""Gathering, scattering, sorting and resampling."""

import torch
import torch.nn.functional as F

from vectors import Case, D, T, U


def interpolate(name, x, **args):
    def call(x, size=None, scale_factor=None, mode="nearest", align_corners=None, antialias=False):
        return F.interpolate(x, size=size, scale_factor=scale_factor, mode=mode, align_corners=align_corners, antialias=antialias)
    return Case("interpolate", call, [x], name=name, **args)


def grid(mode, padding, align, grid_range=1.3):
    return Case("grid_sample", F.grid_sample, [U(-2, 2, 1, 2, 4, 5), U(-grid_range, grid_range, 1, 3, 3, 2)],
                name=f"{mode} {padding} {'corners' if align else 'edges'}", mode=mode, padding_mode=padding, align_corners=align)


def cases():
    rows = T([2, 0, 2, 3])
    out = [
        Case("gather", lambda x, i, dim: torch.gather(x, dim, i), [U(-2, 2, 3, 5), T([[4, 0], [1, 1], [3, 2]])], dim=1),
        Case("gather", lambda x, i, dim: torch.gather(x, dim, i), [U(-2, 2, 3, 4), T([[2, 0, 1, 1], [0, 0, 2, 2]])], name="first", dim=0),
        Case("take_along_dim", lambda x, i, dim: torch.take_along_dim(x, i, dim), [U(-2, 2, 3, 5), T([[4, 0], [1, 1], [3, 2]])], dim=1),
        Case("index_select", lambda x, i, dim: torch.index_select(x, dim, i), [U(-2, 2, 4, 3), rows], name="first", dim=0),
        Case("index_select", lambda x, i, dim: torch.index_select(x, dim, i), [U(-2, 2, 3, 4), rows], name="last", dim=1),
        Case("masked_select", torch.masked_select, [U(-2, 2, 2, 3), T([[True, False, True], [False, True, True]], torch.bool)]),
        Case("embedding", lambda w, i: F.embedding(i, w), [U(-2, 2, 5, 3), T([[2, 0, 2], [4, 4, 4]])]),
        Case("embedding", lambda w, i, padding_idx: F.embedding(i, w, padding_idx), [U(-2, 2, 5, 3), T([[2, 0, 2], [4, 1, 4]])], name="padding", padding_idx=2),
        Case("one_hot", lambda i, num_classes: F.one_hot(i, num_classes), [T([[2, 0], [3, 1]])], num_classes=4, only=["float32"]),
        Case("scatter", lambda x, i, s, dim: torch.scatter(x, dim, i, s), [U(-2, 2, 3, 5), T([[4, 0], [1, 3], [3, 2]]), U(-2, 2, 3, 2)], dim=1),
        Case("scatter_value", lambda x, i, dim, value: torch.scatter(x, dim, i, value), [U(-2, 2, 3, 5), T([[4, 0], [1, 3], [3, 2]])], dim=1, value=1.5),
        Case("scatter_add", lambda x, i, s, dim: torch.scatter_add(x, dim, i, s), [U(-2, 2, 3, 5), T([[4, 4], [1, 3], [3, 3]]), U(-2, 2, 3, 2)], dim=1),
        Case("index_add", lambda x, i, s, dim: torch.index_add(x, dim, i, s), [U(-2, 2, 4, 3), rows, U(-2, 2, 4, 3)], dim=0),
        Case("index_copy", lambda x, i, s, dim: torch.index_copy(x, dim, i, s), [U(-2, 2, 4, 3), T([2, 0]), U(-2, 2, 2, 3)], dim=0),
        Case("index", lambda x, i, j: x[i, j], [U(-2, 2, 4, 3, 2), T([2, 0, 3, 2]), T([1, 2, 0, 1])], name="two"),
        Case("index", lambda x, i: x[i], [U(-2, 2, 4, 3), T([[2, 0], [3, 2]])], name="one"),
        Case("index_put", lambda x, v, i, j: torch.index_put(x, (i, j), v), [U(-2, 2, 4, 3), U(-2, 2, 3), T([2, 0, 3]), T([1, 2, 0])], name="set"),
        Case("index_put", lambda x, v, i, j, accumulate: torch.index_put(x, (i, j), v, accumulate), [U(-2, 2, 4, 3), U(-2, 2, 3), T([2, 2, 3]), T([1, 1, 0])], name="accumulate", accumulate=True),
        Case("index_fill", lambda x, i, dim, value: torch.index_fill(x, dim, i, value), [U(-2, 2, 4, 3), T([2, 0])], dim=0, value=1.5),
        Case("sort", torch.sort, [D(-3, 3, 3, 6)], dim=-1, descending=False),
        Case("sort", torch.sort, [D(-3, 3, 5, 3)], name="descending", dim=0, descending=True),
        Case("argsort", torch.argsort, [D(-3, 3, 3, 6, grad=False)], dim=-1),
        Case("topk", lambda x, k, dim, largest: torch.topk(x, k, dim, largest), [D(-3, 3, 3, 6)], name="largest", k=3, dim=-1, largest=True),
        Case("topk", lambda x, k, dim, largest: torch.topk(x, k, dim, largest), [D(-3, 3, 5, 3)], name="smallest", k=2, dim=0, largest=False),
        Case("kthvalue", lambda x, k, dim: torch.kthvalue(x, k, dim), [D(-3, 3, 3, 6)], k=2, dim=-1),
        interpolate("nearest 1d", U(-2, 2, 1, 2, 5), size=[8], mode="nearest"),
        interpolate("nearest 2d", U(-2, 2, 1, 2, 3, 4), scale_factor=2.0, mode="nearest"),
        interpolate("nearest down", U(-2, 2, 1, 1, 5, 7), size=[3, 4], mode="nearest"),
        interpolate("nearest exact", U(-2, 2, 1, 1, 5, 7), size=[3, 9], mode="nearest-exact"),
        interpolate("nearest 3d", U(-2, 2, 1, 1, 2, 2, 3), size=[3, 4, 4], mode="nearest"),
        interpolate("nearest exact 1d", U(-2, 2, 1, 2, 5), size=[8], mode="nearest-exact"),
        interpolate("nearest exact 3d", U(-2, 2, 1, 1, 2, 2, 3), size=[3, 4, 4], mode="nearest-exact"),
        interpolate("bicubic antialias", U(-2, 2, 1, 1, 6, 7), size=[3, 4], mode="bicubic", align_corners=False, antialias=True),
        interpolate("linear", U(-2, 2, 1, 2, 5), size=[8], mode="linear", align_corners=False),
        interpolate("linear corners", U(-2, 2, 1, 2, 5), size=[8], mode="linear", align_corners=True),
        interpolate("bilinear", U(-2, 2, 1, 2, 3, 4), size=[5, 7], mode="bilinear", align_corners=False),
        interpolate("bilinear corners", U(-2, 2, 1, 2, 3, 4), size=[5, 7], mode="bilinear", align_corners=True),
        interpolate("bilinear down", U(-2, 2, 1, 1, 6, 7), size=[3, 4], mode="bilinear", align_corners=False),
        interpolate("bilinear factor", U(-2, 2, 1, 1, 4, 5), scale_factor=1.5, mode="bilinear", align_corners=False),
        interpolate("bilinear antialias", U(-2, 2, 1, 1, 6, 7), size=[3, 4], mode="bilinear", align_corners=False, antialias=True),
        interpolate("bicubic", U(-2, 2, 1, 1, 4, 5), size=[6, 7], mode="bicubic", align_corners=False),
        interpolate("bicubic corners", U(-2, 2, 1, 1, 4, 5), size=[6, 7], mode="bicubic", align_corners=True),
        interpolate("trilinear", U(-2, 2, 1, 1, 2, 3, 3), size=[3, 4, 5], mode="trilinear", align_corners=False),
        interpolate("area", U(-2, 2, 1, 1, 5, 6), size=[2, 4], mode="area"),
        grid("bilinear", "zeros", False), grid("bilinear", "border", False), grid("bilinear", "reflection", False),
        grid("bilinear", "zeros", True), grid("bilinear", "border", True), grid("bilinear", "reflection", True),
        grid("nearest", "zeros", False), grid("nearest", "border", True), grid("bicubic", "zeros", False),
        Case("affine_grid", lambda theta, size, align_corners: F.affine_grid(theta, size, align_corners), [U(-1, 1, 1, 2, 3)], size=[1, 1, 3, 4], align_corners=False),
        Case("bucketize", lambda x, b: torch.bucketize(x, b), [U(-2, 2, 8, grad=False), Edges()]),
    ]
    return out


class Edges(U):
    def __init__(self):
        super().__init__(-1, 1, 4, grad=False)

    def draw(self, gen):
        return torch.tensor([-1.0, -0.25, 0.5, 1.0], dtype=torch.float64)
