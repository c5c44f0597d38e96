// Package limits has the bounds that amp and its layers refuse sizes by.
package limits

// Elements is the size above which a shape is refused, of a view too: offsets of its elements stay far below an int's limit.
const Elements = 1 << 48
