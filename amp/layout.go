package amp

// What a device package has to know of a tensor beyond its public face.

// Layout returns the shape, the strides in elements (0 along a broadcast dimension) and the offset of the first element in the storage,
// in elements. The slices are the tensor's own: read them, and keep none.
func (t *Tensor) Layout() (shape, strides []int, offset int) { return t.shape, t.strides, t.off }

// Storage returns the buffer that holds the tensor, which views share.
func (t *Tensor) Storage() Buffer {
	t.live("Storage")
	return t.st.buf
}
