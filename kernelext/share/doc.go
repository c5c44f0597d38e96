// Package share packs a notebook with what reproduces it, and executes such a notebook again and says what differs.
//
// What is compared are the figures: they hold the decisions, losses and scales of a run as data, and none of its times. Where
// the same kernels compute (HALFTONE_CPU=reproducible, or the recorded instruction set), they must be the same to the last
// bit; elsewhere sums are taken in another order, and numbers must agree within the tolerances of [Loose].
package share
