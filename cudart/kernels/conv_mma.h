// What the kernels of convolutions on tensor cores share: their parameters, and where taps and positions lie.
#pragma once
#include "prelude.h"

// A Divider divides numbers below 2³¹ by a fixed one, with a multiplication: the host computes it.
struct Divider { u32 by, times, shift; };
HT_FN u32 divide(u32 n, const Divider& d) { return d.by == 1 ? n : (u32)((u64)n * d.times >> 32) >> d.shift; }

// ConvCores is out(m, n) = Σ over k of a(m, k)·b(k, n) once more (see conv.cu). b is x with its padding, channels last, in groups of whole
// 16-byte pieces; offsets in it are in bytes, below 2³². In a convolution a row of a has the weights of all taps, tap by tap, n are positions; a
// transposed convolution is one of an x with zeros between its elements, by weights in reverse. In the gradient of a weight k are positions, a
// is dy, channels last, and n goes over taps and channels.
struct ConvCores {
  void* out;
  const void *a, *b, *bias;
  void* partial;                       // [splits][groups][m][n] of sums, where k is split
  int m, n, k, groups, splits, stages;
  int channels, taps, pieces;          // of a group of b: channels, their 16-byte pieces
  int a_count;                         // rows or columns that a has
  i64 a_step, a_group;                 // elements from row to row, and from group to group
  i64 out_m, out_group, out_image;
  u32 b_group, image, grid[3], tap[3]; // bytes from one to the next in b
  Divider by_pieces, by_kernel[2], by_plane, by_grid[2];  // x, and y of a tap; a plane, x, and y of a position
};

// tap_offset: n/8 or k/8 counts the pieces of all taps.
HT_FN u32 tap_offset(const ConvCores& p, u32 i) {
  const u32 t = divide(i, p.by_pieces), y = divide(t, p.by_kernel[0]), z = divide(y, p.by_kernel[1]);
  return (i - t * p.pieces) * 16 + (t - y * p.by_kernel[0].by) * p.tap[2] + (y - z * p.by_kernel[1].by) * p.tap[1] + z * p.tap[0];
}
HT_FN u32 position_offset(const ConvCores& p, u32 i) {
  const u32 image = divide(i, p.by_plane), at = i - image * p.by_plane.by, y = divide(at, p.by_grid[0]), z = divide(y, p.by_grid[1]);
  return image * p.image + (at - y * p.by_grid[0].by) * p.grid[2] + (y - z * p.by_grid[1].by) * p.grid[1] + z * p.grid[0];
}
// conv_place is where column n of a result lies; false for a channel that is not there.
template <bool Weight> HT_FN bool conv_place(const ConvCores& p, u32 n, i64& at) {
  if (Weight) {
    const u32 tap = divide(n / 8, p.by_pieces), channel = n - tap * p.pieces * 8;
    at = (i64)channel * p.taps + tap;
    return (int)channel < p.channels;
  }
  const u32 image = divide(n, p.by_plane);
  at = image * p.out_image + (n - image * p.by_plane.by);
  return true;
}
