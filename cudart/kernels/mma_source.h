// A matrix in memory as an operand of mma_loop.h.
#pragma once
#include "mma_loop.h"

#if HT_TENSOR_CORES
// A RowSource copies tiles of an operand that is a matrix: rows of memory are rows of m or n (AlongK), or of k. Rows behind the last are copies
// of it: what is multiplied with them is not written.
template <class H, bool AlongK, int Size, int K, int Threads, class Place = Tile<AlongK, Size, K, Threads>> struct RowSource {
  typedef Place tile;
  const H* base;
  i64 step;                     // elements from row to row
  int first, count, from, to;   // of m or n, of k
  int whole;
  const char* at;               // of the current tile: the thread's first column of the first row, of the thread's first row if AlongK
  u32 apart, rows[tile::pieces], place;  // bytes from row to row; rows from there to those of each piece; where the first piece goes

  HT_METHOD RowSource(const H* base_, i64 step_, int first_, int count_, int from_, int to_)
      : base(base_), step(step_), first(first_), count(count_), from(from_), to(to_) {
    const int row = tile::row(), chunk = tile::chunk();
    whole = to > from ? (to - from) / K : 0;
    apart = (u32)(step * 2);
    place = tile::place(row, chunk);
    if (AlongK) {
      const int r = first + row < count ? first + row : count - 1, most = count - 1 - r;
      at = (const char*)(base + r * step + from + chunk * 8);
      HT_UNROLL for (int i = 0; i < tile::pieces; i++) rows[i] = i * tile::rows_apart < most ? i * tile::rows_apart : most;
    } else {
      const int c = first + chunk * 8 < count ? first + chunk * 8 : first;
      if (first + Size > count && count % 8 != 0) whole = 0;  // a piece goes beyond the row
      at = (const char*)(base + from * step + c);
      HT_UNROLL for (int i = 0; i < tile::pieces; i++) rows[i] = row + i * tile::rows_apart;
    }
  }
  template <int I> HT_METHOD void piece(u32 to) { cp_async16(tile::piece(to, I), AlongK && I == 0 ? at : further(at, rows[I], apart)); }
  HT_METHOD void next() { at = AlongK ? at + K * 2 : further(at, K, apart); }
  HT_METHOD void rest(u32 stage, int n) {
    HT_ROLLED for (int i = 0; i < tile::pieces; i++) {
      const int row = tile::row() + i * tile::rows_apart, chunk = tile::chunk(), k0 = from + n * K;
      const int r = AlongK ? first + row : k0 + row, c = (AlongK ? k0 : first) + chunk * 8;
      const int rows = AlongK ? count : to, width = AlongK ? to : count;
      int bytes = r < rows ? (width - c) * 2 : 0;
      bytes = bytes < 0 ? 0 : (bytes > 16 ? 16 : bytes);
      cp_async16_zfill(stage + tile::place(row, chunk), bytes ? base + r * step + c : base, bytes);
    }
  }
};
#endif
