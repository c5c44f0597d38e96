package amp

import "slices"

// placesInOrder returns 0 … n-1 in the order of compare, equals as they were. Sorts of elements of other types go through it: each type of its own would
// link 5 to 10 KB more into every cell.
func placesInOrder(n int, compare func(a, b int) int) []int {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, compare)
	return order
}
