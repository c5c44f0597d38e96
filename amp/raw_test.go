package amp

import (
	"bytes"
	"errors"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
)

func TestRaw(t *testing.T) {
	s := NewScope()
	defer s.Close()
	x := From([]float32{1, math.Float32frombits(0x7fa12345), float32(math.Copysign(0, -1)), 3, 4, 5}, 2, 3) // a NaN with a payload
	var b bytes.Buffer
	if err := WriteRaw(&b, Transpose(s, x, 0, 1)); err != nil {
		t.Fatal(err)
	}
	want := []byte{0, 0, 0x80, 0x3f, 0, 0, 0x40, 0x40, 0x45, 0x23, 0xa1, 0x7f, 0, 0, 0x80, 0x40, 0, 0, 0, 0x80, 0, 0, 0xa0, 0x40}
	if !bytes.Equal(b.Bytes(), want) {
		t.Fatalf("% x", b.Bytes())
	}
	y, err := FromRaw(&b, Float32, []int{3, 2})
	if err != nil || !slices.Equal(y.Shape(), []int{3, 2}) || math.Float32bits(Values[float32](y)[2]) != 0x7fa12345 {
		t.Fatal(err, y)
	}
	long := Rand(s, Float16, -1, 1, 300, 70)
	b.Reset()
	if err := WriteRaw(&b, Transpose(s, long, 0, 1)); err != nil || b.Len() != long.Len()*2 {
		t.Fatal(err, b.Len())
	}
	back, _ := FromRaw(&b, Float16, []int{70, 300})
	if !slices.Equal(Transpose(s, back, 0, 1).Float64s(), long.Float64s()) {
		t.Error("a view longer than a chunk came back changed")
	}
	v := y.Version()
	for dt, data := range map[DType]string{Float32: "1234567", Int64: "", Bool: "\x01\x00"} {
		if _, err := FromRaw(strings.NewReader(data), dt, []int{3}); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%v: %v", dt, err)
		}
	}
	if _, err := FromRaw(strings.NewReader("\x01\x00\x02"), Bool, []int{3}); err == nil || !strings.Contains(err.Error(), "element 2") {
		t.Error(err)
	}
	one, err := FromRaw(strings.NewReader("\x01"), Bool, nil)
	if err != nil || one.Rank() != 0 || !Values[bool](one)[0] {
		t.Error(err)
	}
	if err := ReadRaw(bytes.NewReader(make([]byte, 24)), y); err != nil || y.Version() == v || y.Float64s()[0] != 0 {
		t.Error(err, y.Version())
	}
	if err := Maybe(func() { _ = ReadRaw(&b, Transpose(s, x, 0, 1)) }); !errors.Is(err, ErrArgument) {
		t.Error(err)
	}
}
