package amp

import "slices"

// Meshgrid returns the coordinates of a grid: one tensor for each list, all of one shape, as views of the lists. With indexing "ij" the
// result has a dimension for each list in their order, and element [i, j, …] of the k-th tensor is the one of the k-th list that its k-th
// index names; with "xy", as for images, the first two dimensions are swapped. A tensor without dimensions is a list of one. It panics with
// ErrShape for tensors of several dimensions, ErrDType for dtypes that differ and ErrArgument for no list or another indexing. (PyTorch:
// torch.meshgrid(a, b, indexing="ij").)
func Meshgrid(s *Scope, indexing string, lists ...*Tensor) []*Tensor {
	s.alive("Meshgrid")
	if indexing != "ij" && indexing != "xy" {
		fail("Meshgrid", ErrArgument, `use "ij", or "xy" for images`, "indexing %q", indexing)
	}
	if len(lists) == 0 {
		fail("Meshgrid", ErrArgument, "give a list for each dimension of the grid", "no list")
	}
	shape := make([]int, len(lists))
	for k, t := range lists {
		if t.live("Meshgrid"); len(t.shape) > 1 {
			fail("Meshgrid", ErrShape, "give each as a list", "list %d %sis of shape %v", k, quoted(t.name), t.shape)
		}
		if t.dt != lists[0].dt {
			fail("Meshgrid", ErrDType, "convert one with amp.To", "list 0 is %v, list %d %v", lists[0].dt, k, t.dt)
		}
		shape[k] = t.Len()
	}
	order := make([]int, len(lists)) // the dimension of each list
	for k := range order {
		order[k] = k
	}
	if indexing == "xy" && len(lists) > 1 {
		order[0], order[1] = 1, 0
		shape[0], shape[1] = shape[1], shape[0]
	}
	grids := make([]*Tensor, len(lists))
	for k, t := range lists {
		thin := slices.Repeat([]int{1}, len(lists))
		thin[order[k]] = t.Len()
		grids[k] = Expand(s, Reshape(s, t, thin...), shape...)
	}
	return grids
}
