package safetensors

import (
	"encoding/binary"
	"io"
	"math"

	"github.com/halftone-ml/halftone/amp"
	"github.com/x448/float16"
)

// widened reads a tensor of a dtype that amp does not have into one that holds its values exactly.
func widened(r io.Reader, info *Info, to amp.DType) (*amp.Tensor, error) {
	data := make([]byte, info.End-info.Begin)
	if _, err := io.ReadFull(r, data); err != nil {
		return nil, err
	}
	n := int(dtypes[info.rank].bits / 8)
	count := len(data) / n
	switch to {
	case amp.Int64:
		v := make([]int64, count)
		for i := range v {
			v[i] = integer(info.DType, data[i*n:])
		}
		return shaped(v, info.Shape), nil
	case amp.Float16:
		v := make([]float16.Float16, count)
		for i, b := range data {
			v[i] = half(info.DType, b)
		}
		return shaped(v, info.Shape), nil
	}
	v := make([]float32, count)
	for i, b := range data {
		v[i] = float32(math.Ldexp(1, int(b)-127)) // F8_E8M0: an exponent alone
		if b == 0xff {
			v[i] = float32(math.NaN())
		}
	}
	return shaped(v, info.Shape), nil
}

func shaped[T amp.Element](v []T, shape []int) *amp.Tensor {
	if len(shape) == 0 {
		return amp.Scalar(v[0])
	}
	return amp.From(v, shape...)
}

func integer(dtype string, b []byte) int64 {
	switch dtype {
	case "U8":
		return int64(b[0])
	case "I8":
		return int64(int8(b[0]))
	case "U16":
		return int64(binary.LittleEndian.Uint16(b))
	case "I16":
		return int64(int16(binary.LittleEndian.Uint16(b)))
	case "U32":
		return int64(binary.LittleEndian.Uint32(b))
	}
	return int64(int32(binary.LittleEndian.Uint32(b)))
}

// half widens an 8-bit float. E5M2 is the upper half of a float16. E4M3 has a bias of 7, no infinity, and NaN where all bits are set.
func half(dtype string, b byte) float16.Float16 {
	if dtype == "F8_E5M2" {
		return float16.Float16(uint16(b) << 8)
	}
	exponent, mantissa := int(b>>3&15), float64(b&7)
	v := math.Ldexp(8+mantissa, exponent-10)
	switch {
	case b&0x7f == 0x7f:
		v = math.NaN()
	case exponent == 0:
		v = math.Ldexp(mantissa, -9)
	}
	if b&0x80 != 0 {
		v = -v
	}
	return float16.Fromfloat32(float32(v))
}
