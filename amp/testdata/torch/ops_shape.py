"""Views, joining, cutting, padding and turning: exact, so the vectors check what goes where."""

import torch
import torch.nn.functional as F

from vectors import Case, T, U


def cases():
    x = U(-2, 2, 2, 3, 4)
    out = [
        Case("reshape", lambda x, shape: x.reshape(shape), [x], shape=[4, 6]),
        Case("transpose", lambda x, dims: x.permute(dims), [x], dims=[2, 0, 1]),
        Case("expand", lambda x, shape: x.expand(shape), [U(-2, 2, 3, 1)], shape=[2, 3, 4]),
        Case("contiguous", lambda x: x.transpose(0, 1).contiguous(), [U(-2, 2, 3, 4)]),
        Case("narrow", torch.narrow, [x], dim=1, start=1, length=2),
        Case("narrow", torch.narrow, [x], name="last", dim=-1, start=0, length=3),
        Case("slice", lambda x, dim, start, end, step: x[:, start:end:step], [U(-2, 2, 2, 9)], dim=1, start=1, end=8, step=3),
        Case("select", torch.select, [x], dim=1, index=2),
        Case("cat", lambda a, b, c, dim: torch.cat([a, b, c], dim), [U(-2, 2, 2, 3), U(-2, 2, 1, 3), U(-2, 2, 4, 3)], name="first", dim=0),
        Case("cat", lambda a, b, dim: torch.cat([a, b], dim), [U(-2, 2, 2, 3), U(-2, 2, 2, 2)], name="last", dim=-1),
        Case("stack", lambda a, b, dim: torch.stack([a, b], dim), [U(-2, 2, 2, 3), U(-2, 2, 2, 3)], dim=1),
        Case("split", lambda x, size, dim: torch.split(x, size, dim), [U(-2, 2, 2, 7)], size=3, dim=1),
        Case("chunk", lambda x, chunks, dim: torch.chunk(x, chunks, dim), [U(-2, 2, 2, 7)], chunks=3, dim=1),
        Case("flip", lambda x, dims: torch.flip(x, dims), [x], dims=[0, 2]),
        Case("roll", lambda x, shifts, dims: torch.roll(x, shifts, dims), [x], shifts=[1, -2], dims=[0, 2]),
        Case("rot90", lambda x, k, dims: torch.rot90(x, k, dims), [x], k=1, dims=[1, 2]),
        Case("tril", torch.tril, [U(-2, 2, 4, 5)], diagonal=0),
        Case("tril", torch.tril, [U(-2, 2, 2, 4, 4)], name="above", diagonal=1),
        Case("triu", torch.triu, [U(-2, 2, 4, 5)], diagonal=0),
        Case("triu", torch.triu, [U(-2, 2, 2, 4, 4)], name="below", diagonal=-1),
        Case("diagonal", torch.diagonal, [U(-2, 2, 4, 5)], offset=1),
        Case("trace", torch.trace, [U(-2, 2, 4, 4)]),
        Case("repeat", lambda x, repeats: x.repeat(repeats), [U(-2, 2, 2, 3)], repeats=[2, 1, 2]),
        Case("repeat_interleave", lambda x, repeats, dim: x.repeat_interleave(repeats, dim), [U(-2, 2, 2, 3)], repeats=2, dim=1),
        Case("squeeze", torch.squeeze, [U(-2, 2, 2, 1, 3)], dim=1),
        Case("unsqueeze", torch.unsqueeze, [U(-2, 2, 2, 3)], dim=1),
        Case("flatten", torch.flatten, [x], start_dim=1),
        Case("unfold", F.unfold, [U(-2, 2, 1, 2, 4, 5)], kernel_size=[2, 3], dilation=[1, 1], padding=[1, 0], stride=[2, 1]),
        Case("fold", F.fold, [U(-2, 2, 1, 8, 6)], output_size=[3, 4], kernel_size=[2, 2], dilation=[1, 1], padding=[0, 0], stride=[1, 1]),
        Case("pixel_shuffle", F.pixel_shuffle, [U(-2, 2, 1, 8, 2, 3)], upscale_factor=2),
        Case("pixel_unshuffle", F.pixel_unshuffle, [U(-2, 2, 1, 2, 4, 6)], downscale_factor=2),
        Case("pad", lambda x, pad, mode, value: F.pad(x, pad, mode, value), [U(-2, 2, 2, 3, 4)], name="constant", pad=[1, 2, 0, 1], mode="constant", value=0.5),
        Case("pad", lambda x, pad, mode, value: F.pad(x, pad, mode, value), [U(-2, 2, 3, 5)], name="crop", pad=[-1, 2], mode="constant", value=0.0),
        Case("cast", lambda x, dtype: x.to(torch.float32) if x.dtype != torch.float64 else x, [U(-2, 2, 3, 4)], dtype="float32", only=["float32"]),
    ]
    for mode in ("reflect", "replicate"):
        out.append(Case("pad", lambda x, pad, mode: F.pad(x, pad, mode), [U(-2, 2, 1, 1, 2, 3, 3)], name=mode + " 3d", pad=[1, 2, 0, 1, 1, 0], mode=mode))
    for mode in ("reflect", "replicate", "circular"):
        out += [Case("pad", lambda x, pad, mode: F.pad(x, pad, mode), [U(-2, 2, 2, 3, 5)], name=mode + " 1d", pad=[2, 1], mode=mode),
                Case("pad", lambda x, pad, mode: F.pad(x, pad, mode), [U(-2, 2, 1, 2, 4, 3)], name=mode + " 2d", pad=[1, 2, 2, 1], mode=mode)]
    return out
