"""What generate.py and generate_more.py make weights and inputs of."""
import torch


def fill(t, k):
    """Element i of tensor number k is (((7i + 13k + 5) mod 23) - 11) / 40."""
    i = torch.arange(t.numel(), dtype=torch.float64)
    with torch.no_grad():
        t.copy_((((7 * i + 13 * k + 5) % 23) - 11).div(40).reshape(t.shape))
    return t


def prepare(module):
    """The names and shapes of a module's state, whose tensors are filled."""
    for k, t in enumerate(module.state_dict().values()):
        fill(t, k)
    return [[name, list(t.shape)] for name, t in module.state_dict().items()]


def data(k, *shape):
    return fill(torch.empty(shape, dtype=torch.float64), k).requires_grad_()
