package cpu

// Fetch has memory brought to the L1 cache that will be read soon, and that the processor cannot guess, as rows in an order of their own.
func Fetch(mem []byte) {
	if len(mem) > 0 {
		fetch((len(mem)+63)/64, &mem[0])
	}
}
