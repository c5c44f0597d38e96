package nn

// TiedTensors returns how many tensors have further names.
func TiedTensors() (n int) {
	tied.Range(func(any, any) bool { n++; return true })
	return n
}
