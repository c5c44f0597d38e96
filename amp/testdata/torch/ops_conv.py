"""Convolutions and pooling."""

import torch
import torch.nn.functional as F

from vectors import Case, D, T, U


def conv(op, name, x, w, bias=True, transposed=False, **args):
    channels = w[1] * args.get("groups", 1) if transposed else w[0]
    options = dict(stride=1, padding=0, dilation=1, groups=1) | ({"output_padding": 0} if transposed else {}) | args
    return Case(op, getattr(F, op), [U(-1, 1, *x), U(-1, 1, *w), U(-1, 1, channels) if bias else None], name=name, **options)


def transposed(op, name, x, w, bias=True, **args):
    return conv(op, name, x, w, bias, True, **args)


def pool(op, name, *shape, **args):
    return Case(op, getattr(F, op), [D(-3, 3, *shape)], name=name, **args)


def indices(rank, name, *shape, adaptive=False, **args):
    """A pool that also returns where its maxima lie."""
    fn = getattr(F, f"{'adaptive_' if adaptive else ''}max_pool{rank}d")
    return Case(fn.__name__ + "_with_indices", lambda x, **a: fn(x, return_indices=True, **a), [D(-3, 3, *shape)], name=name, **args)


def alone(fn):
    """fn, which PyTorch says may differ from run to run, where it does not: no place is named twice."""
    def call(*args, **options):
        torch.use_deterministic_algorithms(False)
        try:
            return fn(*args, **options)
        finally:
            torch.use_deterministic_algorithms(True)
    return call


def unpool(rank, name, *shape, output_size=None, **args):
    """The inverse of the pool of the same options, of numbers between -1 and 1 in its places: those of windows that do not overlap, as of several
    that go to one place PyTorch gives each a gradient."""
    pool, fn = getattr(F, f"max_pool{rank}d"), getattr(F, f"max_unpool{rank}d")
    x = torch.arange(torch.Size(shape).numel(), dtype=torch.float64).mul(37).remainder(101).reshape(shape)
    y, places = pool(x, return_indices=True, **args)
    size = {} if output_size is None else {"output_size": output_size}
    return Case(fn.__name__, alone(fn), [U(-1, 1, *y.shape), T(places.tolist())], name=name, **args, **size)


def cases():
    out = [
        conv("conv1d", "plain", (2, 3, 7), (4, 3, 3)),
        conv("conv1d", "options", (2, 4, 9), (6, 2, 3), stride=2, padding=2, dilation=2, groups=2),
        conv("conv1d", "bare", (1, 2, 6), (3, 2, 2), bias=False),
        conv("conv2d", "plain", (2, 3, 5, 4), (2, 3, 3, 3)),
        conv("conv2d", "padding", (1, 2, 5, 5), (3, 2, 3, 3), padding=1),
        conv("conv2d", "stride", (1, 2, 6, 5), (2, 2, 3, 2), stride=[2, 1], padding=[1, 0]),
        conv("conv2d", "dilation", (1, 2, 6, 6), (2, 2, 2, 3), dilation=[2, 1], padding=[1, 2], bias=False),
        conv("conv2d", "groups", (1, 4, 4, 4), (4, 2, 3, 3), groups=2, padding=1),
        conv("conv2d", "depthwise", (1, 3, 5, 5), (6, 1, 3, 3), groups=3, stride=2),
        conv("conv2d", "pointwise", (2, 5, 3, 2), (3, 5, 1, 1)),
        conv("conv3d", "plain", (1, 2, 3, 4, 3), (2, 2, 2, 3, 2)),
        conv("conv3d", "options", (1, 2, 4, 3, 4), (2, 1, 2, 2, 2), stride=2, padding=1, groups=2),
        transposed("conv_transpose1d", "plain", (1, 3, 4), (3, 2, 3)),
        transposed("conv_transpose1d", "options", (1, 4, 4), (4, 1, 3), stride=2, padding=1, output_padding=1, groups=2),
        transposed("conv_transpose2d", "plain", (1, 2, 3, 3), (2, 3, 3, 2)),
        transposed("conv_transpose2d", "options", (1, 4, 3, 2), (4, 2, 3, 3), stride=2, padding=1, output_padding=1, groups=2),
        transposed("conv_transpose2d", "dilation", (1, 2, 3, 3), (2, 2, 2, 2), dilation=2, bias=False),
        transposed("conv_transpose3d", "plain", (1, 2, 2, 2, 3), (2, 2, 2, 2, 2), stride=[1, 2, 1]),
        pool("max_pool1d", "plain", 2, 2, 8, kernel_size=2, stride=2, padding=0, dilation=1),
        pool("max_pool1d", "overlap", 1, 2, 9, kernel_size=3, stride=2, padding=1, dilation=1),
        pool("max_pool2d", "plain", 1, 2, 4, 6, kernel_size=2, stride=2, padding=0, dilation=1),
        pool("max_pool2d", "overlap", 1, 1, 6, 7, kernel_size=3, stride=2, padding=1, dilation=1),
        pool("max_pool2d", "dilation", 1, 1, 6, 7, kernel_size=[2, 3], stride=[1, 2], padding=[1, 0], dilation=[2, 1]),
        pool("max_pool2d", "ceil", 1, 1, 5, 7, kernel_size=2, stride=2, padding=0, dilation=1, ceil_mode=True),
        pool("max_pool3d", "plain", 1, 1, 4, 4, 3, kernel_size=2, stride=[2, 1, 1], padding=0, dilation=1),
        pool("avg_pool1d", "plain", 2, 2, 8, kernel_size=3, stride=2, padding=1),
        pool("avg_pool2d", "plain", 1, 2, 4, 6, kernel_size=2, stride=2, padding=0),
        pool("avg_pool2d", "padding", 1, 1, 5, 6, kernel_size=3, stride=2, padding=1, count_include_pad=True),
        pool("avg_pool2d", "without padding", 1, 1, 5, 6, kernel_size=3, stride=2, padding=1, count_include_pad=False),
        pool("avg_pool2d", "ceil", 1, 1, 5, 6, kernel_size=[2, 3], stride=2, padding=0, ceil_mode=True),
        pool("avg_pool2d", "divisor", 1, 1, 4, 4, kernel_size=2, stride=2, padding=0, divisor_override=3),
        pool("avg_pool3d", "plain", 1, 1, 4, 4, 3, kernel_size=2, stride=[2, 1, 1], padding=0),
        pool("adaptive_avg_pool1d", "plain", 2, 2, 7, output_size=3),
        pool("adaptive_avg_pool2d", "plain", 1, 2, 5, 6, output_size=[2, 4]),
        pool("adaptive_avg_pool2d", "one", 2, 3, 3, 3, output_size=[1, 1]),
        pool("adaptive_avg_pool3d", "plain", 1, 1, 3, 4, 5, output_size=[2, 2, 3]),
        pool("adaptive_max_pool1d", "plain", 2, 2, 7, output_size=3),
        pool("adaptive_max_pool2d", "plain", 1, 2, 5, 6, output_size=[2, 4]),
        pool("adaptive_max_pool3d", "plain", 1, 1, 3, 4, 5, output_size=[2, 2, 3]),
        indices(1, "overlap", 1, 2, 9, kernel_size=3, stride=2, padding=1, dilation=1),
        indices(2, "plain", 1, 2, 4, 6, kernel_size=2, stride=2, padding=0, dilation=1),
        indices(2, "unbatched", 2, 5, 6, kernel_size=[2, 3], stride=[1, 2], padding=[1, 0], dilation=[2, 1], ceil_mode=True),
        indices(3, "plain", 1, 1, 4, 4, 3, kernel_size=2, stride=[2, 1, 1], padding=0, dilation=1),
        indices(1, "plain", 2, 2, 7, adaptive=True, output_size=3),
        indices(2, "plain", 1, 2, 5, 6, adaptive=True, output_size=[2, 4]),
        indices(3, "plain", 1, 1, 3, 4, 5, adaptive=True, output_size=[2, 2, 3]),
        unpool(1, "plain", 2, 2, 8, kernel_size=2, stride=2, padding=0),
        unpool(1, "size", 2, 9, output_size=[9], kernel_size=2, stride=2, padding=0),
        unpool(2, "plain", 1, 2, 4, 6, kernel_size=2, stride=2, padding=0),
        unpool(2, "padding", 2, 1, 5, 7, output_size=[5, 7], kernel_size=[2, 3], stride=[2, 4], padding=[1, 1]),
        unpool(2, "unbatched", 2, 4, 5, output_size=[4, 5], kernel_size=[2, 2], stride=[2, 2], padding=[0, 0]),
        unpool(3, "plain", 1, 2, 4, 4, 3, kernel_size=[2, 2, 3], stride=[2, 2, 3], padding=0),
    ]
    return out
