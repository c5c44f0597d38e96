// The main loop of products of float32. A block of 256 threads sums 4·E·(8/WN) rows by 8·E·WN columns: 8 warps, WN of them side by side, of 4 × 8
// lanes with E·E sums each, whose rows and columns lie in fours. Tiles of 16 terms go through registers into shared memory, [k][m] and [k][n];
// while one is multiplied, the next is on its way. How an operand gets there is its source's affair, a struct with
//   tile        where it lies in shared memory, a FloatTile
//   read(n)     takes the thread's pieces of tile n into registers: 0, 1, … in this order
//   write(to)   puts them into shared memory
// Sums go on in the order of k.
#pragma once
#include "prelude.h"

enum { F32_TERMS = 16, F32_THREADS = 256 };

// Where 16-byte pieces of an operand's tile lie: in memory in rows of k (AlongK) or of m or n, Size elements; in shared memory always in rows of m
// or n. What lies along k is turned round on the way, and every fourth row is moved on, so that a warp's writes meet no bank twice.
template <bool AlongK, int Size> struct FloatTile {
  static const int per = (AlongK ? (int)F32_TERMS : Size) / 4, pieces = Size * F32_TERMS / 4 / F32_THREADS, apart = F32_THREADS / per;
  static const int pitch = Size + 4, fours = (F32_TERMS * pitch + (AlongK ? 24 : 0)) / 4;
  HT_FN int place(int k) { return k * pitch + (AlongK ? k / 4 * 8 : 0); }
  HT_FN int row() { return threadIdx.x / per; }
  HT_FN int column() { return threadIdx.x % per * 4; }
  HT_FN void write(float* to, const Floats4 (&held)[pieces]) {
    HT_UNROLL for (int i = 0; i < pieces; i++) {
      const int r = row() + i * apart, c = column();
      if (AlongK) HT_UNROLL for (int e = 0; e < 4; e++) to[(c + e) * pitch + c * 2 + r] = held[i].v[e];
      else *(Floats4*)(to + r * pitch + c) = held[i];
    }
  }
};

// FloatStages is a block's shared memory.
template <class A, class B> struct FloatStages { Floats4 a[2][A::fours], b[2][B::fours]; };

// Where a thread's first row and column are in the block's; the next fours are 16 rows and 32 columns on.
template <int E, int WN> HT_FN int float_row() { return (int)threadIdx.x / 32 / WN * 4 * E + threadIdx.x % 32 / 8 * 4; }
template <int E, int WN> HT_FN int float_column() { return threadIdx.x / 32 % WN * 8 * E + threadIdx.x % 8 * 4; }

template <int E, int WN, class SA, class SB>
HT_FN void float_loop(float (&sum)[E][E], SA& a, SB& b, FloatStages<typename SA::tile, typename SB::tile>& shared, int tiles) {
  typedef typename SA::tile A;
  typedef typename SB::tile B;
  const int G = E / 4, row = float_row<E, WN>(), col = float_column<E, WN>();
  HT_UNROLL for (int i = 0; i < E; i++) HT_UNROLL for (int j = 0; j < E; j++) sum[i][j] = 0;
  if (tiles > 0) {
    a.read(0), b.read(0);
    a.write((float*)shared.a[0]), b.write((float*)shared.b[0]);
  }
  __syncthreads();
  HT_ROLLED for (int kt = 0; kt < tiles; kt++) {
    const bool more = kt + 1 < tiles;
    if (more) a.read(kt + 1), b.read(kt + 1);
    const Floats4 *ta = shared.a[kt & 1] + row / 4, *tb = shared.b[kt & 1] + col / 4;
    HT_UNROLL for (int k = 0; k < F32_TERMS; k++) {
      Floats4 av[G], bv[G];
      HT_UNROLL for (int g = 0; g < G; g++) av[g] = ta[A::place(k) / 4 + g * 4], bv[g] = tb[B::place(k) / 4 + g * 8];
      HT_UNROLL for (int i = 0; i < E; i++) HT_UNROLL for (int j = 0; j < E; j++) sum[i][j] = fused(av[i / 4].v[i % 4], bv[j / 4].v[j % 4], sum[i][j]);
    }
    if (more) a.write((float*)shared.a[(kt + 1) & 1]), b.write((float*)shared.b[(kt + 1) & 1]);
    __syncthreads();
  }
}
