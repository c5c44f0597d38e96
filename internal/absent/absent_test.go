package absent

import (
	"errors"
	"testing"
)

func TestIs(t *testing.T) {
	for _, v := range []any{nil, (*int)(nil), (func())(nil), map[int]int(nil), []int(nil), (chan int)(nil), error(nil)} {
		if !Is(v) {
			t.Errorf("%T is there", v)
		}
	}
	for _, v := range []any{0, "", new(int), func() {}, []int{}, struct{}{}, errors.New("x")} {
		if Is(v) {
			t.Errorf("%T is not there", v)
		}
	}
}
