// What convolutions on tensor cores read (conv_mma.cu): images with channels last and zeros around them, and weights tap by tap. Elements are
// of 16 bits, of whatever type.
#include "prelude.h"

typedef unsigned short b16;
enum { PACK_THREADS = 256, PACK_PLACES = 64, PACK_CHANNELS = 64 };

struct ConvPack {
  b16* out;               // of images: [images][to][groups][pieces·8]; of weights: [groups][m][taps][pieces·8]
  const b16* in;          // of images: [images][groups·channels][from]
  int images, groups, channels, pieces;
  int from[3], to[3], before[3], apart[3];  // of images: sizes; how many zeros lie before the first element, and how far apart elements are
  int m, taps, reversed;  // of weights, which lie [groups·m][channels][taps], or [groups·channels][m][taps] to be read in reverse
};

// pack_source is where place i of a plane of the result comes from in a plane of the input; -1 for a zero.
HT_FN i64 pack_source(const ConvPack& p, int i) {
  int at[3];
  at[2] = i % p.to[2];
  i /= p.to[2];
  at[1] = i % p.to[1];
  at[0] = i / p.to[1];
  i64 from = 0;
  HT_UNROLL for (int d = 0; d < 3; d++) {
    const int u = at[d] - p.before[d], q = u / p.apart[d];
    if (u < 0 || q * p.apart[d] != u || q >= p.from[d]) return -1;
    from = from * p.from[d] + q;
  }
  return from;
}

// A block turns 64 places of an image and 64 channels round in shared memory: both sides are read and written in lines.
HT_KERNEL(conv_pack_images, ConvPack, p) {
  __shared__ b16 tile[PACK_CHANNELS][PACK_PLACES + 2];
  const int t = threadIdx.x, plane = p.to[0] * p.to[1] * p.to[2], tiles = (plane + PACK_PLACES - 1) / PACK_PLACES;
  const int image = (int)(blockIdx.x / tiles), first = (int)(blockIdx.x % tiles) * PACK_PLACES, width = p.pieces * 8, all = p.groups * width;
  const i64 size = (i64)p.from[0] * p.from[1] * p.from[2];
  const int c0 = (int)blockIdx.y * PACK_CHANNELS, mine = first + t % PACK_PLACES;
  const i64 from = mine < plane ? pack_source(p, mine) : -1;
  const b16* in = p.in + (i64)image * p.groups * p.channels * size + (from < 0 ? 0 : from);
  HT_UNROLL for (int i = 0; i < PACK_CHANNELS * PACK_PLACES / PACK_THREADS; i++) {
    const int row = t / PACK_PLACES + i * (PACK_THREADS / PACK_PLACES), c = c0 + row, group = c / width, channel = c - group * width;
    tile[row][t % PACK_PLACES] = from >= 0 && c < all && channel < p.channels ? in[(group * p.channels + channel) * size] : (b16)0;
  }
  __syncthreads();
  struct alignas(16) Piece { b16 v[8]; };
  HT_UNROLL for (int i = 0; i < PACK_CHANNELS / 8 * PACK_PLACES / PACK_THREADS; i++) {
    const int piece = t % (PACK_CHANNELS / 8), place = t / (PACK_CHANNELS / 8) + i * (PACK_THREADS / (PACK_CHANNELS / 8)), c = c0 + piece * 8;
    if (first + place >= plane || c >= all) continue;
    Piece v;
    HT_UNROLL for (int e = 0; e < 8; e++) v.v[e] = tile[piece * 8 + e][place];
    *(Piece*)(p.out + ((i64)image * plane + first + place) * all + c) = v;
  }
}

HT_KERNEL(conv_pack_weights, ConvPack, p) {
  const i64 i = (i64)blockIdx.x * PACK_THREADS + threadIdx.x;
  const int width = p.pieces * 8;
  if (i >= (i64)p.groups * p.m * p.taps * width) return;
  const int c = (int)(i % width), tap = (int)(i / width % p.taps), row = (int)(i / width / p.taps);  // row: group and m
  const int group = row / p.m, m = row - group * p.m;
  b16 v = 0;
  if (c < p.channels) v = p.reversed ? p.in[(((i64)group * p.channels + c) * p.m + m) * p.taps + p.taps - 1 - tap] : p.in[((i64)row * p.channels + c) * p.taps + tap];
  p.out[i] = v;
}
