// What the tensor cores and the asynchronous copies of sm_80 do. Part of device.h. The names are those of Halftone's kernels.
#pragma once

namespace emu {

// Fragments are what one lane holds of a product d = a·b + d of 16×16 by 16×8 numbers (PTX ISA, "Matrix Fragments for
// mma.m16n8k16"): pairs of halves in registers.
struct Fragments {
  float* d;
  const unsigned *a, *b;
};

template <float (*wide)(uint16_t)>
EMU_UNCHECKED inline void mmaStep(void** lanes, unsigned members) {
  if (members != 0xffffffffu) trap("mma.sync without all lanes of the warp");
  float a[16][16], b[16][8];
  for (int l = 0; l < 32; l++) {
    auto* f = static_cast<Fragments*>(lanes[l]);
    int group = l >> 2, pair = (l & 3) * 2;
    for (int h = 0; h < 2; h++) {
      for (int r = 0; r < 4; r++) a[group + 8 * (r & 1)][pair + h + 8 * (r >> 1)] = wide(static_cast<uint16_t>(f->a[r] >> (16 * h)));
      for (int r = 0; r < 2; r++) b[pair + h + 8 * r][group] = wide(static_cast<uint16_t>(f->b[r] >> (16 * h)));
    }
  }
  for (int l = 0; l < 32; l++) {
    auto* f = static_cast<Fragments*>(lanes[l]);
    for (int i = 0; i < 4; i++) {
      int row = (l >> 2) + 8 * (i >> 1), column = (l & 3) * 2 + (i & 1);
      float sum = f->d[i];
      for (int k = 0; k < 16; k++) sum += a[row][k] * b[k][column];
      f->d[i] = sum;
    }
  }
}

// Rows are what one lane gives to ldmatrix and gets from it.
struct Rows {
  const void* row;
  unsigned* out;
  int count;
  bool transposed;
};

// ldmatrix: lane 8·m+i names row i of matrix m, 8 halves; lane l gets of each matrix the pair at row l/4, columns 2·(l%4) and the next.
EMU_UNCHECKED inline void ldmatrixStep(void** lanes, unsigned members) {
  if (members != 0xffffffffu) trap("ldmatrix without all lanes of the warp");
  for (int l = 0; l < 32; l++) {
    auto* mine = static_cast<Rows*>(lanes[l]);
    for (int m = 0; m < mine->count; m++) {
      uint16_t pair[2];
      for (int h = 0; h < 2; h++) {
        int row = mine->transposed ? (l & 3) * 2 + h : l >> 2, column = mine->transposed ? l >> 2 : (l & 3) * 2 + h;
        std::memcpy(&pair[h], static_cast<const char*>(static_cast<Rows*>(lanes[8 * m + row])->row) + 2 * column, 2);
      }
      std::memcpy(&mine->out[m], pair, 4);
    }
  }
}

template <int N>
inline void ldmatrix(unsigned (&r)[N], const void* row, bool transposed) {
  Rows rows{row, r, N, transposed};
  if (lane() < 8 * N) rowAligned(row), touchRead(row, 16);
  warp(0xffffffffu, &rows, ldmatrixStep, false);
}

}  // namespace emu

inline void mma_m16n8k16_f16(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  emu::Fragments f{d, a, b};
  emu::warp(0xffffffffu, &f, emu::mmaStep<f16_to_f32>, false);
}
inline void mma_m16n8k16_bf16(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  emu::Fragments f{d, a, b};
  emu::warp(0xffffffffu, &f, emu::mmaStep<bf16_to_f32>, false);
}
inline void ldmatrix_x4(unsigned (&r)[4], const void* row) { emu::ldmatrix(r, row, false); }
inline void ldmatrix_x2(unsigned (&r)[2], const void* row) { emu::ldmatrix(r, row, false); }
inline void ldmatrix_x4_trans(unsigned (&r)[4], const void* row) { emu::ldmatrix(r, row, true); }
inline void ldmatrix_x2_trans(unsigned (&r)[2], const void* row) { emu::ldmatrix(r, row, true); }

// cp.async: what is copied is there after the wait, and not before.
inline void cp_async16(void* shared, const void* global) { emu::asyncCopy(shared, global, 16, 16); }
inline void cp_async16_zfill(void* shared, const void* global, int bytes) { emu::asyncCopy(shared, global, bytes, 16); }
inline void cp_async8_zfill(void* shared, const void* global, int bytes) { emu::asyncCopy(shared, global, bytes, 8); }
inline void cp_async_commit() { emu::asyncCommit(); }
template <int N> inline void cp_async_wait() { emu::asyncWait(N); }

// wgmma of sm_90a: 64 rows by 256 columns, of halves along k, or turned.
namespace emu {
inline void wgmma256(float (&d)[32][4], uint64_t a, uint64_t b, float (*wide)(uint16_t), bool turnA, bool turnB) {
  float* registers[128];
  for (int i = 0; i < 128; i++) registers[i] = &d[i / 4][i % 4];
  wgmma(Wgmma{a, b, 256, true, turnA, turnB, wide, registers});
}
}  // namespace emu
inline void wgmma_m64n256k16_f16(float (&d)[32][4], uint64_t a, uint64_t b, bool turnA, bool turnB) { emu::wgmma256(d, a, b, f16_to_f32, turnA, turnB); }
inline void wgmma_m64n256k16_bf16(float (&d)[32][4], uint64_t a, uint64_t b, bool turnA, bool turnB) { emu::wgmma256(d, a, b, bf16_to_f32, turnA, turnB); }
inline void wgmma_fence() { emu::wgmmaFence(); }
inline void wgmma_commit() { emu::wgmmaCommit(); }
template <int N> inline void wgmma_wait() { emu::wgmmaWait(N); }
inline void fence_proxy_async() { emu::proxyFence(); }
