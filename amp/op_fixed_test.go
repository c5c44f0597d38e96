package amp

// caseTensors are what a case makes for itself, such as indices: a step that is captured needs them to be there before.
type caseTensors struct {
	made []*Tensor
	at   int // of the call that runs
}

// fixtures are those of the case that runs; while it is nil, each call makes its own.
var fixtures *caseTensors

func fixture(make func() *Tensor) *Tensor {
	f := fixtures
	if f == nil {
		return make()
	}
	if f.at == len(f.made) {
		f.made = append(f.made, make())
	}
	f.at++
	return f.made[f.at-1]
}

// fixed is From in a case.
func fixed[T Element](values []T, shape ...int) *Tensor {
	return fixture(func() *Tensor { return From(values, shape...) })
}

// fixedAs is fromFloat64s in a case.
func fixedAs(dt DType, values []float64, shape []int) *Tensor {
	return fixture(func() *Tensor { return fromFloat64s(dt, values, shape) })
}
