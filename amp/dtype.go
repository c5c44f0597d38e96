package amp

import "fmt"

// DType is the element type of a tensor. The zero value is no dtype.
type DType uint8

// The element types. Float16 is IEEE binary16 (github.com/x448/float16 in Go), BFloat16 the upper half of a float32.
const (
	NoDType DType = iota
	Float16
	BFloat16
	Float32
	Float64
	Int64
	Bool
)

type dtypeInfo struct {
	name  string
	short string
	size  int
	float bool
	// Largest finite value and smallest positive normal and subnormal (0 for integers).
	max, minNormal, minSubnormal float64
}

// dtypes holds what is known of each dtype, once.
var dtypes = [...]dtypeInfo{
	NoDType:  {"none", "none", 0, false, 0, 0, 0},
	Float16:  {"float16", "fp16", 2, true, 65504, 0x1p-14, 0x1p-24},
	BFloat16: {"bfloat16", "bf16", 2, true, 0x1.fep127, 0x1p-126, 0x1p-133},
	Float32:  {"float32", "fp32", 4, true, 0x1.fffffep127, 0x1p-126, 0x1p-149},
	Float64:  {"float64", "fp64", 8, true, 0x1.fffffffffffffp1023, 0x1p-1022, 0x1p-1074},
	Int64:    {"int64", "i64", 8, false, 0, 0, 0},
	Bool:     {"bool", "bool", 1, false, 0, 0, 0},
}

// info returns what is known of d: as little of a number that is no dtype as of NoDType.
func (d DType) info() *dtypeInfo {
	if int(d) >= len(dtypes) {
		d = NoDType
	}
	return &dtypes[d]
}

// AllDTypes lists every dtype a tensor can have, narrowest float first.
func AllDTypes() []DType { return []DType{Float16, BFloat16, Float32, Float64, Int64, Bool} }

// String returns the field's name of the dtype: "float16", "bfloat16", "float32", "float64", "int64", "bool".
func (d DType) String() string {
	if int(d) >= len(dtypes) {
		return fmt.Sprintf("dtype(%d)", uint8(d))
	}
	return dtypes[d].name
}

// Short returns the name used in figures: "fp16", "bf16", "fp32", "fp64", "i64", "bool".
func (d DType) Short() string {
	if int(d) >= len(dtypes) {
		return d.String()
	}
	return dtypes[d].short
}

// Size returns the bytes of one element.
func (d DType) Size() int { return d.info().size }

// IsFloat says whether the dtype is a floating-point type.
func (d DType) IsFloat() bool { return d.info().float }

// IsHalf says whether the dtype is one of the two 16-bit floats.
func (d DType) IsHalf() bool { return d == Float16 || d == BFloat16 }

// Max returns the largest finite value of a float dtype, 0 for others.
func (d DType) Max() float64 { return d.info().max }

// MinNormal returns the smallest positive normal value of a float dtype; below it precision is lost bit by bit.
func (d DType) MinNormal() float64 { return d.info().minNormal }

// MinSubnormal returns the smallest positive value of a float dtype; half of it and below rounds to zero.
func (d DType) MinSubnormal() float64 { return d.info().minSubnormal }

// ParseDType returns the dtype of a long or short name ("float16", "fp16", "f16", "half" …).
func ParseDType(name string) (DType, error) {
	switch name {
	case "f16", "half":
		return Float16, nil
	case "f32", "float":
		return Float32, nil
	case "f64", "double":
		return Float64, nil
	}
	for d := Float16; int(d) < len(dtypes); d++ {
		if name == dtypes[d].name || name == dtypes[d].short {
			return d, nil
		}
	}
	return NoDType, fmt.Errorf("amp: unknown dtype %q; use float16, bfloat16, float32, float64, int64 or bool", name)
}

// MarshalText writes the long name, so that JSON holds "float16" and not a number.
func (d DType) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (d *DType) UnmarshalText(b []byte) error {
	if string(b) == "none" {
		*d = NoDType
		return nil
	}
	v, err := ParseDType(string(b))
	if err == nil {
		*d = v
	}
	return err
}
