// What the kernels of convolutions over packed operands share (conv_mma.cu, conv_f32.cu): their parameters, and where taps and positions lie.
#pragma once
#include "prelude.h"

// A Divider divides numbers below 2³¹ by a fixed one, with a multiplication: the host computes it.
struct Divider { u32 by, times, shift; };
HT_FN u32 divide(u32 n, const Divider& d) { return d.by == 1 ? n : (u32)((u64)n * d.times >> 32) >> d.shift; }

// A ConvPhase is a part of a convolution that meets no zeros between elements: positions of the result in a grid of their own, and the taps that
// they meet. A convolution is one phase. A transposed one with stride s has s of them in each dimension, that meet different taps, perhaps none.
struct ConvPhase {
  int n, k;                            // positions of all images; terms
  u32 b, out;                          // where its first position meets its first tap in b, in bytes; where it lies in a plane of the result
  i64 a;                               // where its weights begin, in elements
  Divider by_kernel[2], by_plane, by_grid[2];  // x, and y of a tap; a plane, x, and y of a position
};
enum { CONV_PHASES = 8 };              // of one launch

// ConvDense is out(m, n) = Σ over k of a(m, k)·b(k, n) once more (see conv.cu). b is x with its padding, channels last, in groups of whole
// 16-byte pieces; offsets in it are in bytes, below 2³². In a convolution a row of a has the weights of all taps, tap by tap, n are positions; a
// transposed one takes the taps of each phase in reverse. In the gradient of a weight k are positions, a is dy, channels last, and n goes over
// taps and channels.
struct ConvDense {
  void* out;
  const void *a, *b, *bias;
  void* partial;                       // [splits][groups][m][n] of sums, where k is split
  int m, n, groups, splits, stages;    // n of all phases
  int channels, taps, pieces;          // of a group of b: channels, their 16-byte pieces
  int a_count;                         // rows or columns that a has
  int apart;                           // whether neighbors in a phase have others between them in the result
  i64 a_step, a_group;                 // elements from row to row, and from group to group
  i64 out_m, out_group, out_image;
  u32 b_group, image, grid[3], tap[3]; // bytes from one to the next in b
  u32 out_grid[3];                     // elements from one position of a phase to the next in a plane of the result
  Divider by_pieces, by_places;        // by_places: a plane of the result
  ConvPhase phase[CONV_PHASES];        // blockIdx.y says which
};

// tap_offset: i counts the pieces of all taps.
HT_FN u32 tap_offset(const ConvDense& p, const ConvPhase& f, u32 i) {
  const u32 t = divide(i, p.by_pieces), y = divide(t, f.by_kernel[0]), z = divide(y, f.by_kernel[1]);
  return (i - t * p.pieces) * 16 + (t - y * f.by_kernel[0].by) * p.tap[2] + (y - z * f.by_kernel[1].by) * p.tap[1] + z * p.tap[0];
}
HT_FN u32 position_offset(const ConvDense& p, const ConvPhase& f, u32 i) {
  const u32 image = divide(i, f.by_plane), at = i - image * f.by_plane.by, y = divide(at, f.by_grid[0]), z = divide(y, f.by_grid[1]);
  return image * p.image + (at - y * f.by_grid[0].by) * p.grid[2] + (y - z * f.by_grid[1].by) * p.grid[1] + z * p.grid[0];
}
// A Spot is where a column of a result lies: its image, and where in its plane.
struct Spot { u32 image, at; };
// phase_spot is that of position i of a phase.
HT_FN Spot phase_spot(const ConvDense& p, const ConvPhase& f, u32 i) {
  const u32 image = divide(i, f.by_plane), at = i - image * f.by_plane.by;
  if (!p.apart) return Spot{image, at};
  const u32 y = divide(at, f.by_grid[0]), z = divide(y, f.by_grid[1]);
  return Spot{image, f.out + (at - y * f.by_grid[0].by) * p.out_grid[2] + (y - z * f.by_grid[1].by) * p.out_grid[1] + z * p.out_grid[0]};
}
// weight_spot is that of column n of a weight's gradient, false for a channel that is not there. Per counts the
// elements of a piece.
template <int Per> HT_FN bool weight_spot(const ConvDense& p, u32 n, i64& at) {
  const u32 tap = divide(n / Per, p.by_pieces), channel = n - tap * p.pieces * Per;
  at = (i64)channel * p.taps + tap;
  return (int)channel < p.channels;
}

// A ConvColumn is where the sums of a column lie in a row: of the result, and of the sums of a split, which have places of channels that are not
// there.
struct ConvColumn { i64 out, part; bool there; };
template <bool Weight, int Per> HT_FN ConvColumn conv_column(const ConvDense& p, const ConvPhase& f, int n) {
  ConvColumn c = {0, n, n < f.n};
  if (!c.there) return c;
  if (Weight) {
    c.there = weight_spot<Per>(p, n, c.out);
    return c;
  }
  const Spot s = phase_spot(p, f, n);
  c.out = s.image * p.out_image + s.at;
  c.part = (i64)s.image * p.by_places.by + s.at;
  return c;
}

// conv_dense_sum brings the splits together, in their order.
template <class T, bool Weight> HT_FN void conv_dense_sum(const ConvDense& p) {
  const i64 all = (i64)p.groups * p.m * p.n, i = (i64)blockIdx.x * 256 + threadIdx.x;
  if (i >= all) return;
  const int n = (int)(i % p.n), m = (int)(i / p.n % p.m), group = (int)(i / p.n / p.m);
  i64 at;
  if (Weight) {
    if (!weight_spot<16 / (int)sizeof(T)>(p, n, at)) return;
  } else {
    const u32 image = divide(n, p.by_places);
    at = image * p.out_image + (n - image * p.by_places.by);
  }
  float sum = 0;
  for (int s = 0; s < p.splits; s++) sum += ((const float*)p.partial)[s * all + i];
  if (p.bias) sum += wide(((const T*)p.bias)[group * p.m + m]);
  ((T*)p.out)[group * p.out_group + m * p.out_m + at] = narrow<T>::of(sum);
}
