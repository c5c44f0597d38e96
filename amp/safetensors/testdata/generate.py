"""Writes the golden files with the Python library, and reads files written by the Go package with it.

    python generate.py                 writes the files beside this script
    python generate.py check FILE...   prints what the library reads from each

Made with safetensors 0.8.0 and numpy 2.4.6 from PyPI. One entry of metadata per file: the library's order of several is random.
"""
import pathlib
import sys

import numpy as np
from safetensors import TensorSpec, deserialize, serialize

HERE = pathlib.Path(__file__).parent


def spec(dtype, shape, data):
    array = np.frombuffer(data, dtype=np.uint8)
    return array, TensorSpec(dtype=dtype, shape=shape, data_ptr=array.ctypes.data, data_len=array.nbytes)


def write(name, tensors, metadata):
    keep, specs = [], {}
    for key, (dtype, shape, data) in tensors.items():
        array, specs[key] = spec(dtype, shape, data)
        keep.append(array)
    (HERE / name).write_bytes(bytes(serialize(specs, metadata=metadata)))


def u(fmt, *values):
    return np.array(values, dtype=fmt).tobytes()


def main():
    write("all.safetensors", {
        "0.weight": ("float32", (2, 3), u("<u4", 0x3F800000, 0x80000000, 0x7F800000, 0xFF800000, 0x7FA12345, 0x00000001)),
        "0.bias": ("float32", (3,), u("<f4", 0.5, -1.25, 3.0)),
        "scale": ("float64", (), u("<f8", 65536.5)),
        "half": ("float16", (2, 2), u("<u2", 0x3C00, 0x7E01, 0x0001, 0xFC00)),
        "brain": ("bfloat16", (3,), u("<u2", 0x3F80, 0x7FA1, 0x8000)),
        "steps": ("int64", (2,), u("<i8", -(1 << 63), (1 << 53) + 1)),
        "mask": ("bool", (2, 1, 2), bytes([1, 0, 0, 1])),
        "none": ("float32", (0, 4), b""),
        "\u00e9 \"quoted\"\\\n\t\u0001\u007f\u2028<&>": ("float16", (1,), u("<u2", 0x4000)),
    }, {"format": "pt <&> \u00e9\u001f\""})
    write("wide.safetensors", {
        "u8": ("uint8", (3,), bytes([0, 127, 255])),
        "i8": ("int8", (3,), bytes([0, 127, 255])),
        "u16": ("uint16", (2,), u("<u2", 1, 65535)),
        "i16": ("int16", (2,), u("<i2", 1, -32768)),
        "u32": ("uint32", (2,), u("<u4", 1, 4294967295)),
        "i32": ("int32", (1, 2), u("<i4", 1, -2147483648)),
        "u64": ("uint64", (1,), u("<u8", 1)),
        "e5m2": ("float8_e5m2", (6,), bytes([0x00, 0x01, 0x3C, 0xBC, 0x7B, 0x7C])),
        "e4m3": ("float8_e4m3fn", (6,), bytes([0x80, 0x01, 0x38, 0xB8, 0x7E, 0x7F])),
        "f32": ("float32", (), u("<f4", 7)),
    }, None)
    write("bare.safetensors", {}, None)
    write("metadata.safetensors", {"a": ("float16", (1,), u("<u2", 0x3C00))}, {})


def check(names):
    for name in names:
        print(name)
        for key, view in sorted(deserialize(pathlib.Path(name).read_bytes())):
            print(" ", repr(key), view["dtype"], view["shape"], bytes(view["data"]).hex())


if sys.argv[1:2] == ["check"]:
    check(sys.argv[2:])
else:
    main()
