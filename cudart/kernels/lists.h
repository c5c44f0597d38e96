// Kernels on lists of tensors: the blocks of a launch are dealt out to its tensors, which lie anywhere.
#pragma once
#include "map.h"

enum { LIST_TENSORS = 64, LIST_THREADS = 256 };

struct List {
  i64 n[LIST_TENSORS];          // elements
  int begin[LIST_TENSORS + 1];  // of the grid: the first block of each tensor; behind the last, all blocks
  int count;
};

// What a block of the grid works on: elements of tensor k, which has n of them, from the first on.
struct ListBlock { int k; i64 n, first; };

// list_block finds that for threads of so many elements each: the tensor is the last one that begins at or before the block. By halves, as each
// question waits for a parameter whose place only the one before has told.
HT_FN ListBlock list_block(const List& l, int each) {
  int k = 0;
  HT_ROLLED for (int n = l.count; n > 1;) {
    const int half = n / 2;
    if ((int)blockIdx.x >= l.begin[k + half]) k += half;
    n -= half;
  }
  return ListBlock{k, l.n[k], (i64)((int)blockIdx.x - l.begin[k]) * (LIST_THREADS * each)};
}

// A Finite says whether all that it saw was finite, with one operation for each: the sum of their products with 0 is 0 then, else NaN.
template <class C> struct Finite {
  C sum = 0;
  __device__ __forceinline__ void see(C x) { sum = fused(x, (C)0, sum); }
  __device__ __forceinline__ bool all() const { return sum == 0; }
};

// vector_at and vector_to read and write a vector. The words of 16 bytes go through registers of their own: clang would take some of them
// together with what a path beside it reads or writes one by one, and leave pieces of the vector.
template <int V, class T> HT_FN vec<V, T> vector_at(const T* p) {
  typedef vec<V, T> Vec;
  auto words = *(const vec<V * sizeof(T) / 4, u32>*)p;
  if (sizeof(words) == 16) HT_UNROLL for (u32& w : words.v) w = held(w);
  return __builtin_bit_cast(Vec, words);
}
template <int V, class T> HT_FN void vector_to(T* p, const vec<V, T>& v) {
  typedef vec<V * sizeof(T) / 4, u32> Words;
  Words words = __builtin_bit_cast(Words, v);
  if (sizeof(words) == 16) HT_UNROLL for (u32& w : words.v) w = held(w);
  *(Words*)p = words;
}

// A Portion is a thread's elements of a tensor: Each in vectors, a block's side by side. All are read before the first is used: at once where the
// tensor lies so and goes on so long, one by one elsewhere, the same ones in the same order; those behind the end are 0.
template <class T, int Each> struct Portion {
  static const int V = 16 / sizeof(T), parts = Each / V;
  typedef vec<V, T> Vec;
  T* at;
  i64 left;  // elements from at on
  bool whole;
  Vec v[parts];
  __device__ __forceinline__ Portion(void* tensor, const ListBlock& b) {
    const i64 mine = b.first + threadIdx.x * V;
    at = (T*)tensor + mine, left = b.n - mine;
    whole = (u64)tensor % 16 == 0 && b.first + LIST_THREADS * Each <= b.n;
    if (whole) {
      HT_UNROLL for (int part = 0; part < parts; part++) v[part] = vector_at<V>(at + part * LIST_THREADS * V);
      return;
    }
    HT_UNROLL for (int part = 0; part < parts; part++)
      HT_UNROLL for (int i = 0; i < V; i++) v[part].v[i] = has(part, i) ? at[place(part, i)] : T();
  }
  HT_FN int place(int part, int i) { return part * LIST_THREADS * V + i; }  // from at on
  __device__ __forceinline__ bool has(int part, int i) const { return whole || place(part, i) < left; }
  __device__ __forceinline__ void store() {
    if (whole) {
      HT_UNROLL for (int part = 0; part < parts; part++) vector_to(at + part * LIST_THREADS * V, v[part]);
      return;
    }
    HT_UNROLL for (int part = 0; part < parts; part++)
      HT_UNROLL for (int i = 0; i < V; i++)
        if (has(part, i)) at[place(part, i)] = v[part].v[i];
  }
};
