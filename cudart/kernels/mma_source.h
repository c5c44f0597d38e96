// A matrix in memory as an operand of mma_loop.h.
#pragma once
#include "mma_loop.h"

#if HT_TENSOR_CORES
// A RowSource copies tiles of an operand that is a matrix: rows of memory are rows of m or n (AlongK), or of k. Rows behind the last are copies
// of it: what is multiplied with them is not written. Without Ragged all tiles are whole, and all columns in eights: that saves registers.
template <class H, bool AlongK, int Size, int K, int Threads, bool Ragged = true> struct RowSource {
  static const bool ragged = Ragged;
  typedef Tile<AlongK, Size, K, Threads> tile;
  const H* base;
  i64 step;                     // elements from row to row
  int first, count, from, to;   // of m or n, of k
  int whole;
  const char* at;               // of the thread's first piece of the current tile
  i64 ahead;                    // bytes from tile to tile
  u32 gap, most, place;         // bytes from piece to piece, to the last row; where the first goes

  HT_METHOD RowSource(const H* base_, i64 step_, int first_, int count_, int from_, int to_)
      : base(base_), step(step_), first(first_), count(count_), from(from_), to(to_) {
    const int row = tile::row(), chunk = tile::chunk();
    whole = to > from ? (to - from) / K : 0;
    gap = (u32)(tile::rows_apart * step * 2);
    place = tile::place(row, chunk);
    if (AlongK) {
      const int r = first + row < count ? first + row : count - 1;
      at = (const char*)(base + r * step + from + chunk * 8);
      most = (u32)((count - 1 - r) * step * 2);
      ahead = K * 2;
    } else {
      const int c = first + chunk * 8 < count ? first + chunk * 8 : first;
      if (Size == 192) gap = (u32)(K * step * 2), most = (u32)(count - 8 - c) * 2;
      if (Ragged && first + Size > count && count % 8 != 0) whole = 0;  // a piece goes beyond the row
      at = (const char*)(base + (from + row) * step + c);
      ahead = K * step * 2;
    }
  }
  template <int I> HT_METHOD void piece(u32 stage, int yes) {
    u32 far = I * (!AlongK && Size == 192 ? 64 : gap);
    if ((AlongK || Size == 192) && I > 0) far = far < most ? far : most;
    cp_async16_if(tile::piece(stage + place, I), at + far, yes);
  }
  // Registers are short where nothing is ragged: gap gives ahead.
  HT_METHOD void next() { at += Ragged ? ahead : AlongK ? K * 2 : gap * (tile::rows_apart ? K / (tile::rows_apart ? tile::rows_apart : 1) : 1); }
  // to_tile goes on with another tile of the same matrices.
  HT_METHOD void to_tile(const RowSource& t) {
    at = t.at, most = t.most;
    if (Ragged) base = t.base, first = t.first, whole = t.whole;
  }
  HT_METHOD void rest(u32 stage, int n) {
    HT_ROLLED for (int i = 0; i < tile::pieces; i++) {
      const int row = tile::row() + i * tile::rows_apart, chunk = tile::chunk() + (tile::rows_apart ? 0 : i * 4), k0 = from + n * K;
      const int r = AlongK ? first + row : k0 + row, c = (AlongK ? k0 : first) + chunk * 8;
      const int rows = AlongK ? count : to, width = AlongK ? to : count;
      int bytes = r < rows ? (width - c) * 2 : 0;
      bytes = bytes < 0 ? 0 : (bytes > 16 ? 16 : bytes);
      cp_async16_zfill(stage + tile::place(row, chunk), bytes ? base + r * step + c : base, bytes);
    }
  }
};
#endif
