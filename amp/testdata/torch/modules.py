"""torch.nn's modules: their state by PyTorch's names, and what comes out, in float64.

The state is float32. A case keeps it as PyTorch names it, the input, the result and the gradients of the input and of every parameter for
a given gradient of the result, all from the same module in float64, and the buffers after the call.
"""

import torch
from torch import nn

from vectors import SEED, tensor


def plain(y):
    return y[0] if isinstance(y, tuple) else y


class Attend(nn.MultiheadAttention):
    """Self-attention as a module of one input, or of three."""

    def forward(self, q, k=None, v=None):
        return super().forward(q, q if k is None else k, q if v is None else v, need_weights=False)[0]


class Block(nn.Module):
    """torchvision's BasicBlock."""

    def __init__(self, n, out, stride):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(n, out, 3, stride, 1, bias=False), nn.BatchNorm2d(out)
        self.conv2, self.bn2 = nn.Conv2d(out, out, 3, 1, 1, bias=False), nn.BatchNorm2d(out)
        if stride != 1 or n != out:
            self.downsample = nn.Sequential(nn.Conv2d(n, out, 1, stride, bias=False), nn.BatchNorm2d(out))

    def forward(self, x):
        y = self.bn2(self.conv2(torch.relu(self.bn1(self.conv1(x)))))
        return torch.relu(y + (self.downsample(x) if hasattr(self, "downsample") else x))


class ResNet(nn.Module):
    """torchvision's resnet18 with fewer channels, with the stem for small images if asked."""

    def __init__(self, width, classes, small):
        super().__init__()
        self.conv1 = nn.Conv2d(3, width, 3, 1, 1, bias=False) if small else nn.Conv2d(3, width, 7, 2, 3, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.pool = nn.Identity() if small else nn.MaxPool2d(3, 2, 1)
        n = width
        for i in range(4):
            out = width << i
            setattr(self, f"layer{i + 1}", nn.Sequential(Block(n, out, 1 if i == 0 else 2), Block(out, out, 1)))
            n = out
        self.fc = nn.Linear(n, classes)

    def forward(self, x):
        x = self.pool(torch.relu(self.bn1(self.conv1(x))))
        for i in range(4):
            x = getattr(self, f"layer{i + 1}")(x)
        return self.fc(x.mean((2, 3)))


def case(name, module, *inputs, train=True):
    gen = torch.Generator().manual_seed(SEED + sum(map(ord, name)))
    with torch.no_grad():
        for k, p in module.state_dict().items():
            if k.endswith("num_batches_tracked"):
                continue
            fan = p[0].numel() if p.dim() > 1 else 4
            v = torch.randn(p.shape, generator=gen) / fan ** 0.5
            p.copy_(v.abs() + 0.5 if k.endswith("running_var") or p.dim() == 1 and ("weight" in k and "norm" in k or "bn" in k and "weight" in k) else v)
    state = {k: tensor(v) for k, v in module.state_dict().items()}
    module = module.double()
    module.train(train)
    xs = [torch.randn(s, generator=gen) if isinstance(s, tuple) else s for s in inputs]
    high = [x.double().requires_grad_() if x.is_floating_point() else x for x in xs]
    y = plain(module(*high))
    dy = torch.randn(y.shape, generator=gen)
    params = dict(module.named_parameters())
    floats = [x for x in high if x.is_floating_point()]
    grads = torch.autograd.grad(y, floats + list(params.values()), dy.double())
    return {"name": name, "train": train, "state": state, "in": [tensor(x) for x in xs], "dy": tensor(dy),
            "out": tensor(y.detach()), "dx": [tensor(g) for g in grads[:len(floats)]],
            "grads": {k: tensor(g) for k, g in zip(params, grads[len(floats):])},
            "buffers": {k: tensor(b) for k, b in module.named_buffers()}}


def modules():
    torch.manual_seed(SEED)
    encoder = dict(dropout=0.0, batch_first=True)
    return [
        case("linear", nn.Linear(5, 3), (2, 4, 5)),
        case("conv1d", nn.Conv1d(4, 6, 3, stride=2, padding=1, groups=2), (2, 4, 7)),
        case("conv2d", nn.Conv2d(3, 4, (3, 2), padding=(1, 0), dilation=(1, 2), bias=False), (2, 3, 5, 6)),
        case("conv2d reflect", nn.Conv2d(2, 3, 3, padding=1, padding_mode="reflect"), (1, 2, 4, 5)),
        case("conv3d", nn.Conv3d(2, 3, 2, stride=2), (1, 2, 4, 4, 4)),
        case("conv_transpose2d", nn.ConvTranspose2d(4, 4, 3, stride=2, padding=1, output_padding=1, groups=2), (1, 4, 3, 3)),
        case("batch_norm1d", nn.BatchNorm1d(4), (6, 4)),
        case("batch_norm2d", nn.BatchNorm2d(3, momentum=0.3), (2, 3, 3, 4)),
        case("batch_norm2d cumulative", nn.BatchNorm2d(3, momentum=None), (2, 3, 3, 4)),
        case("batch_norm2d eval", nn.BatchNorm2d(3), (2, 3, 3, 4), train=False),
        case("layer_norm", nn.LayerNorm((3, 4)), (2, 3, 4)),
        case("rms_norm", nn.RMSNorm(6, eps=1e-6), (2, 3, 6)),
        case("group_norm", nn.GroupNorm(2, 6), (2, 6, 3)),
        case("instance_norm2d", nn.InstanceNorm2d(3, affine=True), (2, 3, 4, 4)),
        case("embedding", nn.Embedding(5, 3), torch.tensor([[1, 4, 4], [0, 2, 1]])),
        case("prelu", nn.PReLU(3), (2, 3, 4)),
        case("bilinear", nn.Bilinear(3, 4, 2), (5, 3), (5, 4)),
        case("rnn", nn.RNN(3, 4, 2, bidirectional=True), (5, 2, 3)),
        case("rnn relu", nn.RNN(3, 4, nonlinearity="relu", bias=False), (5, 2, 3)),
        case("gru", nn.GRU(3, 4, 2, bidirectional=True, batch_first=True), (2, 5, 3)),
        case("lstm", nn.LSTM(3, 4, 2, bidirectional=True), (5, 2, 3)),
        case("attention", Attend(8, 2, batch_first=True), (2, 5, 8)),
        case("attention cross", Attend(8, 4, batch_first=True, kdim=6, vdim=5), (2, 3, 8), (2, 4, 6), (2, 4, 5)),
        case("encoder", nn.TransformerEncoderLayer(8, 2, 16, **encoder), (2, 5, 8)),
        case("encoder pre", nn.TransformerEncoderLayer(8, 2, 16, activation="gelu", norm_first=True, **encoder), (2, 5, 8)),
        case("sequential", nn.Sequential(nn.Conv2d(2, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(16, 3)), (4, 2, 6, 6)),
        case("resnet18 small", ResNet(2, 3, True), (2, 3, 16, 16)),
        case("resnet18 eval", ResNet(2, 3, False), (1, 3, 64, 64), train=False),
    ]
