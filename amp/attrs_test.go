package amp

import (
	"math"
	"reflect"
	"testing"
)

// TestAttrsNone sets every field in turn: one that none forgets would be lost on the way to backward.
func TestAttrsNone(t *testing.T) {
	if !(&Attrs{}).none() {
		t.Error("nothing is set, and none says there is")
	}
	for i := range reflect.TypeFor[Attrs]().NumField() {
		var at Attrs
		f := reflect.ValueOf(&at).Elem().Field(i)
		setSomething(f)
		if at.none() {
			t.Errorf("%s is set, and none does not see it", reflect.TypeFor[Attrs]().Field(i).Name)
		}
	}
	for _, at := range []Attrs{{Scalar: math.Copysign(0, -1)}, {Pair: [2]float64{0, math.Copysign(0, -1)}}} {
		if at.none() {
			t.Errorf("%+v is lost: -0 is not 0", at)
		}
	}
}

// setSomething sets v to a value that is not its zero.
func setSomething(v reflect.Value) {
	switch v.Kind() {
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
	case reflect.Interface:
		v.Set(reflect.ValueOf(&FP4Recipe{}))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.String:
		v.SetString("x")
	case reflect.Float64:
		v.SetFloat(1)
	case reflect.Array:
		setSomething(v.Index(v.Len() - 1))
	case reflect.Struct:
		setSomething(v.Field(v.NumField() - 1))
	default:
		if v.CanUint() {
			v.SetUint(1)
			return
		}
		v.SetInt(1)
	}
}
