"""Writes torch_more.json: embeddings with max_norm, projected LSTMs, transformers without biases, instance norms with running statistics and
attention with more keys, by torch.nn, for nn's tests.

    python generate_more.py > torch_more.json

Made with torch 2.x from PyPI on a CPU; the version is in the file. Weights and inputs follow the formula in fill, which the tests have too.
"""
import json
import warnings

import torch
from torch import nn

from filled import data, fill, prepare, short

warnings.simplefilter("ignore")


def gradients(y, inputs, module):
    """The gradients of a weighted sum of y for inputs and the first parameters."""
    sum(v.mul(fill(torch.empty_like(v), 99)).sum() for v in y).backward()
    return {"inputs": [t.grad.flatten().tolist() for t in inputs], "parameters": [p.grad.flatten().sum().item() for p in module.parameters()]}


def embeddings():
    index = torch.tensor([[1, 3, 1], [0, 5, 3]])
    for max_norm, norm_type in ((0.4, 2.0), (0.5, 1.0), (0.2, float("inf")), (9.0, 2.0)):
        net = nn.Embedding(6, 4, padding_idx=5, max_norm=max_norm, norm_type=norm_type, dtype=torch.float64)
        state = prepare(net)
        y = net(index)
        y.mul(fill(torch.empty_like(y), 99)).sum().backward()
        yield {"name": f"{max_norm} {norm_type}", "max_norm": max_norm, "norm_type": min(norm_type, 1e9), "state": state, "y": y.flatten().tolist(),
               "weight": net.weight.flatten().tolist(), "grad": net.weight.grad.flatten().tolist()}


def projected():
    lengths = torch.tensor([2, 5, 1, 4, 2])
    for bidirectional in (False, True):
        for packed in (False, True):
            net = nn.LSTM(3, 4, 2, bidirectional=bidirectional, proj_size=2, bias=not packed, dtype=torch.float64)
            state = prepare(net)
            n = 4 if bidirectional else 2
            x, h, c = data(1, 6, 5, 3), data(2, n, 5, 2), data(3, n, 5, 4)
            if packed:
                y, last = net(nn.utils.rnn.pack_padded_sequence(x, lengths, enforce_sorted=False), (h, c))
                y, _ = nn.utils.rnn.pad_packed_sequence(y, total_length=6)
            else:
                y, last = net(x, (h, c))
            yield {"name": "LSTM", "bidirectional": bidirectional, "packed": packed, "lengths": lengths.tolist(), "state": state,
                   "y": y.flatten().tolist(), "last": [v.flatten().tolist() for v in last]} | gradients((y, *last), [x, h, c], net)


def transformers():
    for norm_first in (False, True):
        src, tgt = data(1, 2, 5, 8), data(2, 2, 4, 8)
        model = nn.Transformer(8, 2, 2, 2, dim_feedforward=12, dropout=0.0, norm_first=norm_first, batch_first=True, bias=False, dtype=torch.float64)
        state = prepare(model)
        y = model(src, tgt)
        yield {"name": "Transformer", "norm_first": norm_first, "state": state, "y": y.flatten().tolist()} | gradients([y], [tgt, src], model)


def instances():
    for affine in (False, True):
        net = nn.InstanceNorm2d(3, affine=affine, track_running_stats=True, momentum=0.3, dtype=torch.float64)
        for p in net.parameters():
            fill(p, 4)
        x = data(1, 2, 3, 4, 5)
        ys = [net(x), net(fill(torch.empty(4, 3, 2, 2, dtype=torch.float64), 7))]
        ys.append(net.eval()(x))
        yield {"name": "InstanceNorm2d", "affine": affine, "ys": [y.flatten().tolist() for y in ys],
               "state": [[k, v.flatten().tolist()] for k, v in net.state_dict().items()]} | gradients([ys[0], ys[2]], [x], net)


def attentions():
    mask = torch.ones(4, 5, dtype=torch.bool).triu(2)
    for bias_kv, zero, masked in ((True, False, False), (False, True, True), (True, True, True)):
        net = nn.MultiheadAttention(8, 2, add_bias_kv=bias_kv, add_zero_attn=zero, batch_first=True, dtype=torch.float64)
        state = prepare(net)
        q, k = data(1, 2, 4, 8), data(2, 2, 5, 8)
        y, _ = net(q, k, k, attn_mask=mask if masked else None, key_padding_mask=torch.arange(5)[None] >= torch.tensor([5, 3])[:, None] if masked else None)
        yield {"name": "MultiheadAttention", "bias_kv": bias_kv, "zero": zero, "masked": masked, "state": state, "y": y.flatten().tolist()} | gradients([y], [q, k], net)


print(json.dumps(short({"torch": torch.__version__, "embeddings": list(embeddings()), "projected": list(projected()), "transformers": list(transformers()),
                        "instances": list(instances()), "attentions": list(attentions())}), separators=(",", ":")).replace('{"name"', '\n{"name"'))
