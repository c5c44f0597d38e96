package widgets

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
)

// A Number is a float64 whose JSON form also holds what JSON numbers cannot: "NaN", "+Inf" and "-Inf", as strings. A diverged
// loss is a finding and must survive being stored.
type Number float64

// number rounds to float32, which is the precision that losses and scales have, so that a figure draws the same before and
// after it was stored. What float32 cannot hold stays as it is.
func number(v float64) Number {
	if single(v) {
		return Number(float32(v))
	}
	return Number(v)
}

// single says whether float32 holds v, rounded: neither as infinity nor as a zero that it is not.
func single(v float64) bool {
	f := float32(v)
	return !math.IsInf(float64(f), 0) && (f != 0 || v == 0)
}

// MarshalJSON writes the shortest form that reads back as the same number.
func (n Number) MarshalJSON() ([]byte, error) {
	v := float64(n)
	switch {
	case math.IsNaN(v):
		return []byte(`"NaN"`), nil
	case math.IsInf(v, 1):
		return []byte(`"+Inf"`), nil
	case math.IsInf(v, -1):
		return []byte(`"-Inf"`), nil
	}
	bits := 64
	if single(v) && float64(float32(v)) == v {
		bits = 32
	}
	return strconv.AppendFloat(nil, v, 'g', -1, bits), nil
}

// UnmarshalJSON reads a number or one of the three strings.
func (n *Number) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		var s string
		if err := json.Unmarshal(b, &s); err != nil {
			return err
		}
		switch s {
		case "NaN", "+Inf", "-Inf":
			v, _ := strconv.ParseFloat(s, 64)
			*n = Number(v)
			return nil
		}
		return fmt.Errorf("widgets: %q is not a number", clip(s, 40))
	}
	var v float64
	if err := json.Unmarshal(b, &v); err != nil {
		return err
	}
	*n = number(v)
	return nil
}

// finite says whether n is neither infinite nor NaN.
func (n Number) finite() bool { return !math.IsNaN(float64(n)) && !math.IsInf(float64(n), 0) }

// numbers converts a series.
func numbers(v []float64) []Number {
	out := make([]Number, len(v))
	for i, x := range v {
		out[i] = number(x)
	}
	return out
}
