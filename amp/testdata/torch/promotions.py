"""What arithmetic makes of every pair of dtypes, of a tensor and a tensor without dimensions, and of a tensor and a number: dtype and values, or
nothing where PyTorch refuses. Integers and booleans among them, which no vector of the other files has.
"""

import torch

DTYPES = {"float16": torch.float16, "bfloat16": torch.bfloat16, "float32": torch.float32, "float64": torch.float64, "int64": torch.int64, "bool": torch.bool}
NAMES = {v: k for k, v in DTYPES.items()}
A, B, NUMBER = [1, 0, 3, -2, 5], [1, 1, 2, -3, 1], [2]
MASK = torch.tensor([True, False, True, False, True])

BITS = {op: getattr(torch, "bitwise_" + op) for op in ("and", "or", "xor", "left_shift", "right_shift")}
PAIRS = {"bitwise_" + op: f for op, f in BITS.items()} | {"add": torch.add, "sub": torch.sub, "mul": torch.mul, "div": torch.div, "remainder": torch.remainder, "floor_divide": torch.floor_divide, "fmod": torch.fmod, "pow": torch.pow,
         "minimum": torch.minimum, "maximum": torch.maximum, "atan2": torch.atan2, "eq": torch.eq, "ne": torch.ne, "lt": torch.lt, "le": torch.le, "gt": torch.gt, "ge": torch.ge,
         "where": lambda a, b: torch.where(MASK, a, b), "logical_and": torch.logical_and, "logical_or": torch.logical_or, "logical_xor": torch.logical_xor,
         "addcmul": lambda a, b: torch.addcmul(a, a, b, value=3), "clamp_max": lambda a, b: torch.clamp(a, max=b), "clamp_tensor": lambda a, b: torch.clamp(a, b, b)}
VECTORS = {"dot": torch.dot, "outer": torch.outer, "cross": lambda a, b: torch.linalg.cross(a[:3], b[:3])}
NUMBERS = {"add_scalar": lambda x, c: x + c, "mul_scalar": lambda x, c: x * c, "pow_scalar": lambda x, c: x ** c, "__rpow__": lambda x, c: c ** x,
           "__rdiv__": lambda x, c: c / x, "clamp": lambda x, c: torch.clamp(x, -c, c), "clamp_min": lambda x, c: torch.clamp(x, min=c),
           "threshold": lambda x, c: torch.nn.functional.threshold(x, c, c)}
ROUNDED = [("threshold", 2.5)]  # of integers: to 2, without a word
ALONE = {"sum": torch.sum, "prod": torch.prod, "mean": torch.mean, "cumsum": lambda x: x.cumsum(0), "cumprod": lambda x: x.cumprod(0), "neg": torch.neg,
         "any": torch.any, "all": torch.all, "max": lambda x: x.max(0)[0], "sort": lambda x: x.sort(0)[0], "logical_not": torch.logical_not, "bitwise_not": torch.bitwise_not, "square": torch.square,
         "relu6": torch.nn.functional.relu6, "hardtanh": torch.nn.functional.hardtanh, "logsumexp": lambda x: x.logsumexp(0)} | {
             op: getattr(torch, op) for op in "abs sign sqrt rsqrt exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan sinh cosh tanh asinh acosh "
             "atanh sigmoid erf erfc erfinv lgamma reciprocal floor ceil round trunc frac isnan isinf isfinite relu".split()}


def record(op, fn, dtypes, *inputs, **more):
    case = {"op": op, "in": dtypes} | more
    try:
        y = fn(*inputs)
    except (RuntimeError, TypeError):
        return case
    values = y.to(torch.float64).flatten().tolist()
    return case | {"out": NAMES[y.dtype], "values": [str(v) for v in (values if isinstance(values, list) else [values])]}


def promotions():
    out = []
    for a, ta in DTYPES.items():
        x = torch.tensor(A, dtype=ta)
        out += [record(op, fn, [a], x) for op, fn in ALONE.items()]
        out += [record(op, fn, [a], x, c, number=float(c)) for op, fn in NUMBERS.items() for c in (2, 2.5) if (op, c) not in ROUNDED]
        for b, tb in DTYPES.items():
            out += [record(op, fn, [a, b], x, torch.tensor(B, dtype=tb)) for op, fn in (PAIRS | VECTORS).items()]
            out += [record(op, fn, [a, b], x, torch.tensor(NUMBER[0], dtype=tb), single=True) for op, fn in PAIRS.items()]
    return out
