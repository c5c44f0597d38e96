"""Writes torch_embedding_bag.json: torch.nn.EmbeddingBag in its modes, for nn's tests.

    python generate_embedding_bag.py > torch_embedding_bag.json

Made with torch 2.x from PyPI on a CPU, in float64; the version is in the file. Tables and weights follow the formula in filled.py, which the tests
have too: numbers come again, so that maxima are tied.
"""
import itertools
import json

import torch
from torch import nn

from filled import data, fill, prepare, short

INPUTS = {
    "bags": ([[1, 3, 1, 8], [0, 5, 3, 6], [5, 5, 5, 5]], None),
    "offsets": ([1, 3, 1, 0, 5, 3, 6, 5, 7, 4, 2, 8, 0], [0, 2, 2, 7, 8]),
    "last": ([1, 3, 1, 0, 5, 3, 6, 5, 7, 4, 2, 8, 0], [0, 2, 2, 7, 8, 13, 13]),
    "empty": ([], [0, 0]),
    "no bags": ([], []),
}


def cases():
    for (form, (numbers, offsets)), mode, padding, max_norm, weighted in itertools.product(
            INPUTS.items(), ("mean", "sum", "max"), (None, 5), (None, 0.6), (False, True)):
        if weighted and mode != "sum" or not numbers and (padding or max_norm):
            continue
        net = nn.EmbeddingBag(9, 4, mode=mode, padding_idx=padding, max_norm=max_norm, include_last_offset=form == "last", dtype=torch.float64)
        state = prepare(net)
        index = torch.tensor(numbers, dtype=torch.int64)
        weights = data(7, *index.shape) if weighted else None
        y = net(index, offsets if offsets is None else torch.tensor(offsets, dtype=torch.int64), weights)
        y.mul(fill(torch.empty_like(y), 99)).sum().backward()
        yield {"name": f"{form} {mode} padding={padding} max_norm={max_norm} weights={weighted}", "mode": mode, "padding": padding, "max_norm": max_norm or 0,
               "index": index.flatten().tolist(), "shape": list(index.shape), "offsets": offsets, "last": form == "last", "weights": weighted, "state": state,
               "y": y.flatten().tolist(), "y_shape": list(y.shape), "weight": net.weight.flatten().tolist(), "grad": net.weight.grad.flatten().tolist(),
               "weights_grad": weights.grad.flatten().tolist() if weighted else []}


print(json.dumps({"torch": torch.__version__, "cases": [short(c) for c in cases()]}, separators=(",", ":")).replace('{"name"', '\n{"name"'))
