"""Writes torch.json: what torch.nn's transformers and recurrent layers and torch.optim's averaged models do, and a state with tied weights, for nn's tests.

    python generate.py > torch.json

Made with torch 2.x from PyPI on a CPU; the version is in the file. Weights and inputs follow the formula in fill, which the tests have too.
"""
import json
import warnings

import torch
from torch import nn
from torch.optim import swa_utils as swa

from filled import data, fill, prepare, short

warnings.simplefilter("ignore")


def gradients(y, inputs, module):
    """The gradients of a weighted sum of y for inputs and the first parameters."""
    y.mul(fill(torch.empty_like(y), 99)).sum().backward()
    return [t.grad.flatten().tolist() for t in inputs], [p.grad.flatten().sum().item() for p in module.parameters()]


LENGTHS = torch.tensor([5, 3])
TARGETS = torch.tensor([2, 4])


def padding(lengths, n):
    return torch.arange(n)[None] >= lengths[:, None]


def transformers():
    for norm_first in (False, True):
        for activation in ("relu", "gelu"):
            kw = dict(dim_feedforward=12, dropout=0.0, activation=activation, norm_first=norm_first, batch_first=True, dtype=torch.float64)
            causal = nn.Transformer.generate_square_subsequent_mask(4, dtype=torch.float64) < 0
            src, tgt = data(1, 2, 5, 8), data(2, 2, 4, 8)
            layer = nn.TransformerDecoderLayer(8, 2, **kw)
            state = prepare(layer)
            y = layer(tgt, src, tgt_mask=causal, tgt_key_padding_mask=padding(TARGETS, 4), memory_key_padding_mask=padding(LENGTHS, 5))
            inputs, parameters = gradients(y, [tgt, src], layer)
            yield {"name": "TransformerDecoderLayer", "norm_first": norm_first, "activation": activation, "state": state,
                   "y": y.flatten().tolist(), "inputs": inputs, "parameters": parameters}

            src, tgt = data(1, 2, 5, 8), data(2, 2, 4, 8)
            model = nn.Transformer(8, 2, 2, 2, **kw)
            state = prepare(model)
            y = model(src, tgt, tgt_mask=causal, src_key_padding_mask=padding(LENGTHS, 5), tgt_key_padding_mask=padding(TARGETS, 4),
                      memory_key_padding_mask=padding(LENGTHS, 5))
            inputs, parameters = gradients(y, [tgt, src], model)
            yield {"name": "Transformer", "norm_first": norm_first, "activation": activation, "state": state,
                   "y": y.flatten().tolist(), "inputs": inputs, "parameters": parameters}

    kw = dict(dim_feedforward=12, dropout=0.0, batch_first=True, dtype=torch.float64)
    x = data(1, 2, 5, 8)
    stack = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, **kw), 2, enable_nested_tensor=False)
    state = prepare(stack)
    y = stack(x, mask=torch.ones(5, 5, dtype=torch.bool).triu(1), src_key_padding_mask=padding(LENGTHS, 5))
    inputs, parameters = gradients(y, [x], stack)
    yield {"name": "TransformerEncoder", "norm_first": False, "activation": "relu", "state": state,
           "y": y.flatten().tolist(), "inputs": inputs, "parameters": parameters}


def averages():
    """Averages of a model that is trained by a formula: parameters, buffers and an output after five updates and after update_bn."""
    for name, kw in (("mean", {}), ("ema", {"multi_avg_fn": swa.get_ema_multi_avg_fn(0.9)}), ("ema 0.25", {"multi_avg_fn": swa.get_ema_multi_avg_fn(0.25)}),
                     ("buffers", {"multi_avg_fn": swa.get_ema_multi_avg_fn(0.9), "use_buffers": True})):
        net = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 2))
        model = swa.AveragedModel(net, **kw)
        for step in range(5):
            for k, p in enumerate(net.parameters()):
                fill(p, 10 * step + k)
            net(fill(torch.empty(6, 3), step))
            model.update_parameters(net)
        flat = lambda d: [[k, v.flatten().tolist()] for k, v in d.items()]
        before = flat(model.state_dict())
        swa.update_bn([fill(torch.empty(6, 3), 20 + i) for i in range(3)], model)
        yield {"name": name, "state": before, "after": flat(model.state_dict()), "y": model.eval()(fill(torch.empty(2, 3), 7)).flatten().tolist()}


def tied():
    """The state of a model whose output layer has the weight of its embedding, which two names have."""
    net = nn.Sequential(nn.Embedding(7, 4), nn.Sequential(nn.Linear(4, 4), nn.ReLU()), nn.Linear(4, 7))
    net[2].weight = net[0].weight
    prepare(net)
    return [[name, t.flatten().tolist()] for name, t in net.state_dict().items()]


def recurrent():
    """Networks on a batch of different lengths, from given states."""
    lengths = torch.tensor([2, 5, 1, 4, 2])
    for name in ("RNN", "GRU", "LSTM"):
        for bidirectional in (False, True):
            net = getattr(nn, name)(3, 4, 2, bidirectional=bidirectional, dtype=torch.float64)
            state = prepare(net)
            x, n = data(1, 6, 5, 3), 4 if bidirectional else 2
            h, c = data(2, n, 5, 4), data(3, n, 5, 4)
            packed = nn.utils.rnn.pack_padded_sequence(x, lengths, enforce_sorted=False)
            y, last = net(packed, (h, c) if name == "LSTM" else h)
            y, _ = nn.utils.rnn.pad_packed_sequence(y, total_length=6)
            last = last if name == "LSTM" else (last,)
            loss = sum(v.mul(fill(torch.empty_like(v), 99)).sum() for v in (y, *last))
            loss.backward()
            yield {"name": name, "bidirectional": bidirectional, "lengths": lengths.tolist(), "state": state, "y": y.flatten().tolist(),
                   "last": [v.flatten().tolist() for v in last], "inputs": [v.grad.flatten().tolist() for v in (x, h, c)[:1 + len(last)]],
                   "parameters": [p.grad.flatten().sum().item() for p in net.parameters()]}


print(json.dumps(short({"torch": torch.__version__, "transformers": list(transformers()), "averages": list(averages()), "tied": tied(), "recurrent": list(recurrent())}), separators=(",", ":")).replace('{"name"', '\n{"name"'))
