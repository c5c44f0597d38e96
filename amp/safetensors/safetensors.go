// Package safetensors reads and writes the safetensors format of Hugging Face, in which most published weights are.
//
// A file is the length N of its header (8 bytes, little-endian), N bytes of JSON that say of every tensor its dtype, its shape and where
// its elements lie, and the elements. Save writes the bytes that the Python library writes: tensors in falling order of dtype
// size and then by name, the header padded with spaces to a multiple of 8. Only the order of the entries of __metadata__ is not
// its own, since the library's is random; here they are sorted.
//
// Reading trusts nothing: a header that is not what the format says, offsets that leave gaps, overlap or leave the file, sizes that
// overflow or do not agree, and names used twice are errors, and memory is taken only for what the file really holds.
package safetensors

import (
	"errors"
	"fmt"

	"github.com/halftone-ml/halftone/amp"
)

// ErrFormat is what errors about the content of a file wrap, as against those of the file system.
var ErrFormat = errors.New("not a valid safetensors file")

// ErrDType is what errors about a dtype that amp does not have wrap; see Widen.
var ErrDType = errors.New("unsupported dtype")

// maxHeader is the Python library's limit.
const maxHeader = 100_000_000

// metadataKey is the header's entry for free text.
const metadataKey = "__metadata__"

// dtypes lists the dtypes of the format in the Python library's order, which is the order of the data from the last to the first: bits
// an element, the tensors of amp that hold them, and those that hold them without loss after conversion.
var dtypes = []struct {
	name  string
	bits  uint64
	same  amp.DType
	wider amp.DType
}{
	{"BOOL", 8, amp.Bool, 0},
	{"F4", 4, 0, 0},
	{"F6_E2M3", 6, 0, 0},
	{"F6_E3M2", 6, 0, 0},
	{"U8", 8, 0, amp.Int64},
	{"I8", 8, 0, amp.Int64},
	{"F8_E5M2", 8, 0, amp.Float16},
	{"F8_E4M3", 8, 0, amp.Float16},
	{"F8_E8M0", 8, 0, amp.Float32},
	{"I16", 16, 0, amp.Int64},
	{"U16", 16, 0, amp.Int64},
	{"F16", 16, amp.Float16, 0},
	{"BF16", 16, amp.BFloat16, 0},
	{"I32", 32, 0, amp.Int64},
	{"U32", 32, 0, amp.Int64},
	{"F32", 32, amp.Float32, 0},
	{"C64", 64, 0, 0},
	{"F64", 64, amp.Float64, 0},
	{"I64", 64, amp.Int64, 0},
	{"U64", 64, 0, 0},
}

// rank returns the place in dtypes of a name, -1 if it is unknown.
func rank(name string) int {
	for i, d := range dtypes {
		if d.name == name {
			return i
		}
	}
	return -1
}

// rankOf returns the place of amp's dtype.
func rankOf(dt amp.DType) int {
	for i, d := range dtypes {
		if d.same == dt {
			return i
		}
	}
	return -1
}

func broken(format string, args ...any) error {
	return fmt.Errorf("safetensors: %w: %s", ErrFormat, fmt.Sprintf(format, args...))
}
