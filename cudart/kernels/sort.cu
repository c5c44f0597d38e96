// Order along a dimension: elements become keys whose order as whole numbers is theirs, with NaN greatest and -0 equal to 0, and a key goes
// with the place it came from, which decides between equals: so the order is that of a stable sort. Tiles of 1024 are sorted in shared
// memory; the tiles of a longer line are merged two by two, or, where only the first few are asked for, each gives its first few to the next
// round.
#include "prelude.h"

enum { SORT_THREADS = 256, SORT_TILE = 1024, SORT_EACH = SORT_TILE / SORT_THREADS };
enum { SORT_DOWN = 1, SORT_MEDIAN = 2, SORT_LAST = 4 };  // Sort.flags: greatest first; the place of the median, NaN before all; write the result

struct Sort {
  i64* out;
  const void* x;
  void* keys[2];      // read and written: [lines][total] and [lines][kept]
  u32* at[2];
  i64 lines, n;       // of x: elements of a line
  i64 total, kept;    // of the buffers: entries of a line
  i64 tiles, keep;    // per line; entries of a tile that go on
  i64 count, run;     // elements of a line of the result; entries that are in order
  int rank, flags;
  int width, unused;  // of a tile: a power of two up to 1024
  int shape[8];       // of the lines
  i64 stride[2][8];   // of out and x from line to line
  i64 step[2];
};

template <class C> struct key_of {};
template <> struct key_of<float> {
  typedef u32 K;
  HT_FN K of(float v, int flags) {
    if (v != v) return flags & SORT_MEDIAN ? 0u : (flags & SORT_DOWN ? 0u : 0xffffffffu);
    const u32 b = ht_bits32(v + 0.0f), k = b >> 31 ? ~b : b | 0x80000000u;
    return flags & SORT_DOWN ? ~k : k;
  }
};
template <> struct key_of<double> {
  typedef u64 K;
  HT_FN K of(double v, int flags) {
    if (v != v) return flags & (SORT_MEDIAN | SORT_DOWN) ? 0 : ~0ull;
    const u64 b = ht_bits(v + 0.0), k = b >> 63 ? ~b : b | 0x8000000000000000ull;
    return flags & SORT_DOWN ? ~k : k;
  }
};
template <> struct key_of<i64> {
  typedef u64 K;
  HT_FN K of(i64 v, int flags) {
    const u64 k = (u64)v ^ 0x8000000000000000ull;
    return flags & SORT_DOWN ? ~k : k;
  }
};
template <class T> struct floats_of { static const bool is = true; };
template <> struct floats_of<i64> { static const bool is = false; };
template <> struct floats_of<b8> { static const bool is = false; };

enum : u32 { SORT_NOTHING = 0xffffffffu };  // the place of an entry that pads a tile: with the greatest key, it comes last

template <class K> HT_FN bool sort_before(K a, u32 i, K b, u32 j) { return a < b || (a == b && i < j); }

HT_FN void sort_line(const Sort& p, i64 k, i64 (&off)[2]) {
  off[0] = off[1] = 0;
  u32 at = (u32)k;
  HT_ROLLED for (int d = p.rank - 1; d >= 0; d--) {
    const u32 size = (u32)p.shape[d], q = at / size, r = at - q * size;
    off[0] += r * p.stride[0][d];
    off[1] += r * p.stride[1][d];
    at = q;
  }
}

// sort_tile sorts what the block's threads have put into shared memory, every width entries by themselves, and passes it on. floats says
// that key 0 is a NaN's.
template <class K> HT_FN void sort_tile(const Sort& p, K* key, u32* at, bool floats) {
  const int width = p.width;
  HT_ROLLED for (int k = 2; k <= width; k <<= 1) {
    HT_ROLLED for (int j = k >> 1; j > 0; j >>= 1) {
      __syncthreads();
      HT_ROLLED for (int q = threadIdx.x; q < SORT_TILE / 2; q += SORT_THREADS) {
        const int a = 2 * q - (q & (j - 1)), b = a + j;
        const bool up = ((a & (width - 1)) & k) == 0;
        if (sort_before(key[b], at[b], key[a], at[a]) == up) {
          const K x = key[a];
          const u32 i = at[a];
          key[a] = key[b], at[a] = at[b];
          key[b] = x, at[b] = i;
        }
      }
    }
  }
  __syncthreads();
  HT_ROLLED for (int s = threadIdx.x; s < SORT_TILE; s += SORT_THREADS) {
    const i64 group = (i64)blockIdx.x * (SORT_TILE / width) + s / width, line = group / p.tiles, tile = group % p.tiles;
    const int r = s & (width - 1);
    if (line >= p.lines) continue;
    if (p.flags & SORT_LAST) {
      if (r >= p.count) continue;
      i64 off[2];
      sort_line(p, line, off);
      const int from = p.flags & SORT_MEDIAN && !(floats && key[s] == 0) ? s + (int)((p.n - 1) / 2) : s;
      p.out[off[0] + r * p.step[0]] = (i64)at[from];
    } else if (r < p.keep) {
      const i64 to = line * p.kept + tile * p.keep + r;
      ((K*)p.keys[1])[to] = key[s];
      p.at[1][to] = at[s];
    }
  }
}

template <class T> HT_FN void sort_first(const Sort& p) {
  typedef typename as<T>::wide C;
  typedef typename key_of<C>::K K;
  __shared__ K key[SORT_TILE];
  __shared__ u32 at[SORT_TILE];
  HT_ROLLED for (int s = threadIdx.x; s < SORT_TILE; s += SORT_THREADS) {
    const i64 group = (i64)blockIdx.x * (SORT_TILE / p.width) + s / p.width, line = group / p.tiles;
    const i64 i = group % p.tiles * p.width + (s & (p.width - 1));
    K k = ~(K)0;
    u32 place = SORT_NOTHING;
    if (line < p.lines && i < p.n) {
      i64 off[2];
      sort_line(p, line, off);
      k = key_of<C>::of(wide(((const T*)p.x)[off[1] + i * p.step[1]]), p.flags);
      place = (u32)i;
    }
    key[s] = k;
    at[s] = place;
  }
  sort_tile<K>(p, key, at, floats_of<T>::is);
}
HT_KERNEL(sort_first_f16, Sort, p) { sort_first<f16>(p); }
HT_KERNEL(sort_first_bf16, Sort, p) { sort_first<bf16>(p); }
HT_KERNEL(sort_first_f32, Sort, p) { sort_first<float>(p); }
HT_KERNEL(sort_first_f64, Sort, p) { sort_first<double>(p); }
HT_KERNEL(sort_first_i64, Sort, p) { sort_first<i64>(p); }
HT_KERNEL(sort_first_b8, Sort, p) { sort_first<b8>(p); }

// sort_again sorts tiles of what earlier tiles gave.
template <class K> HT_FN void sort_again(const Sort& p) {
  __shared__ K key[SORT_TILE];
  __shared__ u32 at[SORT_TILE];
  HT_ROLLED for (int s = threadIdx.x; s < SORT_TILE; s += SORT_THREADS) {
    const i64 group = (i64)blockIdx.x * (SORT_TILE / p.width) + s / p.width, line = group / p.tiles;
    const i64 i = group % p.tiles * p.width + (s & (p.width - 1));
    const bool in = line < p.lines && i < p.total;
    key[s] = in ? ((const K*)p.keys[0])[line * p.total + i] : ~(K)0;
    at[s] = in ? p.at[0][line * p.total + i] : SORT_NOTHING;
  }
  sort_tile<K>(p, key, at, false);
}

// sort_merge merges runs of p.run entries two by two; a block writes 1024 of them, each to where the entries before it in both runs put it.
template <class K> HT_FN void sort_merge(const Sort& p) {
  __shared__ K key[SORT_TILE];
  __shared__ u32 at[SORT_TILE];
  __shared__ int split[2];
  const i64 tiles = p.total / SORT_TILE, line = blockIdx.x / tiles, from = blockIdx.x % tiles * SORT_TILE;
  const i64 base = from / (2 * p.run) * (2 * p.run);
  const K* a = (const K*)p.keys[0] + line * p.total + base;
  const u32* i = p.at[0] + line * p.total + base;
  const i64 left = p.total - base < p.run ? p.total - base : p.run, both = p.total - base < 2 * p.run ? p.total - base : 2 * p.run;
  const K* b = a + left;
  const u32* j = i + left;
  const i64 right = both - left;
  if (threadIdx.x < 2) {  // how many of the first from, or from + 1024, come from the left run
    const i64 d = from - base + threadIdx.x * SORT_TILE;
    i64 lo = d > right ? d - right : 0, hi = d < left ? d : left;
    while (lo < hi) {
      const i64 m = (lo + hi) / 2;
      if (!sort_before(b[d - 1 - m], j[d - 1 - m], a[m], i[m])) lo = m + 1;
      else hi = m;
    }
    split[threadIdx.x] = (int)lo;
  }
  __syncthreads();
  const int first = split[0], na = split[1] - first;
  const i64 second = from - base - first;
  HT_ROLLED for (int s = threadIdx.x; s < SORT_TILE; s += SORT_THREADS) {
    key[s] = s < na ? a[first + s] : b[second + s - na];
    at[s] = s < na ? i[first + s] : j[second + s - na];
  }
  __syncthreads();
  HT_ROLLED for (int s = threadIdx.x; s < SORT_TILE; s += SORT_THREADS) {
    int lo = s < na ? na : 0, hi = s < na ? SORT_TILE : na;  // entries of the other run before this one
    while (lo < hi) {
      const int m = (lo + hi) / 2;
      const bool before = s < na ? sort_before(key[m], at[m], key[s], at[s]) : !sort_before(key[s], at[s], key[m], at[m]);
      if (before) lo = m + 1;
      else hi = m;
    }
    const i64 to = from + (s < na ? s + lo - na : s - na + lo);
    if (!(p.flags & SORT_LAST)) {
      ((K*)p.keys[1])[line * p.total + to] = key[s];
      p.at[1][line * p.total + to] = at[s];
    } else if (to < p.count) {
      i64 off[2];
      sort_line(p, line, off);
      p.out[off[0] + to * p.step[0]] = (i64)at[s];
    }
  }
}

// sort_median picks the place of the median of lines in order: that of a NaN, which come first, if there is one. floats says whether the
// keys are those of floats.
template <class K> HT_FN void sort_median(const Sort& p, bool floats) {
  const i64 line = (i64)blockIdx.x * SORT_THREADS + threadIdx.x;
  if (line >= p.lines) return;
  i64 off[2];
  sort_line(p, line, off);
  const i64 from = line * p.total;
  p.out[off[0]] = (i64)p.at[0][floats && ((const K*)p.keys[0])[from] == 0 ? from : from + (p.n - 1) / 2];
}
#define KEYS(S, K)                                       \
  HT_KERNEL(sort_again_##S, Sort, p) { sort_again<K>(p); } \
  HT_KERNEL(sort_merge_##S, Sort, p) { sort_merge<K>(p); }
KEYS(w32, u32) KEYS(w64, u64)
HT_KERNEL(sort_median_f32, Sort, p) { sort_median<u32>(p, true); }
HT_KERNEL(sort_median_f64, Sort, p) { sort_median<u64>(p, true); }
HT_KERNEL(sort_median_i64, Sort, p) { sort_median<u64>(p, false); }
