"""Attention and recurrent cells."""

import torch
import torch.nn.functional as F

from vectors import Case, T, U


def attention(q, k, v, mask=None, is_causal=False, scale=None):
    if mask is not None and mask.is_floating_point():
        mask = mask.to(q.dtype)
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=is_causal, scale=scale)


def written_out(q, k, v, mask=None, is_causal=False, scale=None):
    """The definition, for float64: the fused kernel has no second derivative."""
    scale = q.shape[-1] ** -0.5 if scale is None else scale
    s = q @ k.transpose(-2, -1) * scale
    if is_causal:
        s = s.masked_fill(~torch.ones(s.shape[-2:], dtype=torch.bool).tril(), float("-inf"))
    if mask is not None:
        s = s.masked_fill(~mask, float("-inf")) if mask.dtype == torch.bool else s + mask
    return torch.softmax(s, -1) @ v


def lstm(x, h, c, *weights):
    return torch.lstm_cell(x, (h, c), *weights)


def cell(op, fn, gates, bias=True):
    n, i, h = 2, 3, 4
    weights = [U(-0.6, 0.6, gates * h, i), U(-0.6, 0.6, gates * h, h)]
    weights += [U(-0.5, 0.5, gates * h), U(-0.5, 0.5, gates * h)] if bias else [None, None]
    states = [U(-1, 1, n, h)] * (2 if gates == 4 else 1)
    return Case(op, fn, [U(-1, 1, n, i), *states, *weights], name="bias" if bias else "bare")


def layer(op, gates, reverse=False):
    """One layer over a sequence [steps, batch, features], as torch.nn's with one layer; from the last step to the first if reverse."""
    def run(x, *rest, reverse):
        n = 2 if gates == 4 else 1
        states, weights = [h.unsqueeze(0) for h in rest[:n]], list(rest[n:])
        x = x.flip(0) if reverse else x
        y, *last = getattr(torch, op)(x, tuple(states) if n == 2 else states[0], weights, True, 1, 0.0, True, False, False)
        return (y.flip(0) if reverse else y), *[h.squeeze(0) for h in last]

    c = cell(op, run, gates)
    c.inputs[0] = U(-1, 1, 3, 2, 3)
    c.name, c.args = "reverse" if reverse else "forward", {"reverse": reverse}
    return c


def cases():
    q, k, v = U(-1.5, 1.5, 1, 2, 3, 4), U(-1.5, 1.5, 1, 2, 5, 4), U(-1.5, 1.5, 1, 2, 5, 4)
    mask = T([[True, True, False, True, False], [True, False, True, True, True], [False, True, True, False, True]], torch.bool)
    sq = [U(-1.5, 1.5, 2, 4, 4)] * 3
    return [
        Case("scaled_dot_product_attention", attention, [q, k, v], name="plain", exact=written_out),
        Case("scaled_dot_product_attention", attention, sq, name="causal", is_causal=True, exact=written_out),
        Case("scaled_dot_product_attention", attention, [q, k, v], name="scale", scale=0.3, exact=written_out),
        Case("scaled_dot_product_attention", attention, [q, k, v, mask], name="mask", exact=written_out),
        Case("scaled_dot_product_attention", attention, [q, k, v, U(-1, 1, 3, 5)], name="added mask", exact=written_out),
        cell("rnn_tanh_cell", torch.rnn_tanh_cell, 1), cell("rnn_relu_cell", torch.rnn_relu_cell, 1),
        cell("gru_cell", torch.gru_cell, 3), cell("lstm_cell", lstm, 4),
        layer("rnn_tanh", 1), layer("rnn_relu", 1), layer("gru", 3), layer("lstm", 4), layer("gru", 3, True), layer("lstm", 4, True),
        cell("rnn_tanh_cell", torch.rnn_tanh_cell, 1, False), cell("gru_cell", torch.gru_cell, 3, False), cell("lstm_cell", lstm, 4, False),
    ]
