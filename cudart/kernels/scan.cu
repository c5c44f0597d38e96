// Rows whose element i is made of the elements before it: cumsum, cumprod, logcumsumexp, the places of cummax and cummin, and the linear
// recurrence that gradients of these are. A short line is one thread's; a long one is cut into tiles, a block each, in three launches: the
// total of each tile, what comes before each tile, and the elements. The order is fixed by the shape, so the same numbers give the same bits.
#include "math32.h"
#include "special.h"

enum { SCAN_THREADS = 256, SCAN_EACH = 8 };                                    // a tile has up to 2048 elements
enum { SCAN_LINES = 0, SCAN_TOTALS = 1, SCAN_CARRIES = 2, SCAN_TILES = 3 };  // Scan.phase

struct Scan {
  void* out;
  const void* in[2];
  void* partial;  // [lines][tiles] of the accumulator: totals, then what comes before
  i64 lines, n, tiles;
  int rank, phase, reverse, each;  // each: elements of a tile that are one thread's
  int shape[8];                    // of the lines
  i64 stride[3][8];                // of out, in[0] and in[1] from line to line
  i64 step[3];                     // along a line
};

// scan_before returns the block's accumulators before this thread's, in order, and that of all.
template <class S> HT_FN typename S::A scan_before(typename S::A mine, typename S::A& all) {
  typedef typename S::A A;
  __shared__ A cell[SCAN_THREADS];
  const int t = threadIdx.x;
  __syncthreads();
  cell[t] = mine;
  __syncthreads();
  HT_ROLLED for (int d = 1; d < SCAN_THREADS; d <<= 1) {
    A v = cell[t];
    if (t >= d) {
      A left = cell[t - d];
      S::merge(left, v);
      v = left;
    }
    __syncthreads();
    cell[t] = v;
    __syncthreads();
  }
  all = cell[SCAN_THREADS - 1];
  return t > 0 ? cell[t - 1] : S::none();
}

// S: A (accumulator), none(), of(x, y, i), merge(A&, const A&) with the later one second, value(A). N is the number of inputs.
template <class S, int N, class O, class T> struct Scanner {
  typedef typename S::A A;
  const Scan& p;
  O* out;
  const T *x, *y;

  __device__ __forceinline__ void line(i64 k) {
    i64 off[3] = {0, 0, 0};
    u32 at = (u32)k;
    HT_ROLLED for (int d = p.rank - 1; d >= 0; d--) {
      const u32 size = (u32)p.shape[d], q = at / size, r = at - q * size;
      HT_UNROLL for (int i = 0; i < 3; i++) off[i] += r * p.stride[i][d];
      at = q;
    }
    out = (O*)p.out + off[0];
    x = (const T*)p.in[0] + off[1];
    y = N > 1 ? (const T*)p.in[1] + off[2] : x;
  }
  __device__ __forceinline__ void take(A& a, i64 i) {
    const i64 j = p.reverse ? p.n - 1 - i : i;
    S::merge(a, S::of(wide(x[j * p.step[1]]), wide(y[N > 1 ? j * p.step[2] : j * p.step[1]]), j));
  }
  __device__ __forceinline__ void give(const A& a, i64 i) {
    const i64 j = p.reverse ? p.n - 1 - i : i;
    out[j * p.step[0]] = narrow<O>::of(S::value(a));
  }
};

template <class S, int N, class O, class T> HT_FN void scan_pass(const Scan& p) {
  typedef typename S::A A;
  Scanner<S, N, O, T> s{p, nullptr, nullptr, nullptr};
  if (p.phase == SCAN_LINES) {
    const i64 k = (i64)blockIdx.x * SCAN_THREADS + threadIdx.x;
    if (k >= p.lines) return;
    s.line(k);
    A run = S::none();
    HT_ROLLED for (i64 i = 0; i < p.n; i++) {
      s.take(run, i);
      s.give(run, i);
    }
    return;
  }
  A all, run = S::none();
  if (p.phase == SCAN_CARRIES) {
    A* part = (A*)p.partial + (i64)blockIdx.x * p.tiles;
    HT_ROLLED for (i64 base = 0; base < p.tiles; base += SCAN_THREADS) {
      const i64 i = base + threadIdx.x;
      const A before = scan_before<S>(i < p.tiles ? part[i] : S::none(), all);
      A mine = run;
      S::merge(mine, before);
      if (i < p.tiles) part[i] = mine;
      S::merge(run, all);
    }
    return;
  }
  const i64 k = blockIdx.x / p.tiles, tile = blockIdx.x % p.tiles;
  s.line(k);
  const i64 lo = (tile * SCAN_THREADS + threadIdx.x) * p.each, hi = lo + p.each < p.n ? lo + p.each : p.n;
  A mine = S::none();
  HT_ROLLED for (i64 i = lo; i < hi; i++) s.take(mine, i);
  const A before = scan_before<S>(mine, all);
  if (p.phase == SCAN_TOTALS) {
    if (threadIdx.x == 0) ((A*)p.partial)[blockIdx.x] = all;
    return;
  }
  if (p.tiles > 1) run = ((const A*)p.partial)[blockIdx.x];
  S::merge(run, before);
  HT_ROLLED for (i64 i = lo; i < hi; i++) {
    s.take(run, i);
    s.give(run, i);
  }
}
#define HT_SCAN(name, R, N, S, T, D, O) \
  HT_KERNEL(name##_##S##_##D, Scan, p) { scan_pass<R, N, O, T>(p); }
#define FLOATS(name, R, N) HT_SCAN(name, R, N, f16, f16, f16, f16) HT_SCAN(name, R, N, bf16, bf16, bf16, bf16) HT_SCAN(name, R, N, f32, float, f32, float) HT_SCAN(name, R, N, f64, double, f64, double)
// The result may be of a wider float dtype.
#define WIDER(name, R)                                                                                                            \
  FLOATS(name, R, 1)                                                                                                              \
  HT_SCAN(name, R, 1, f16, f16, f32, float) HT_SCAN(name, R, 1, bf16, bf16, f32, float) HT_SCAN(name, R, 1, f16, f16, f64, double) \
  HT_SCAN(name, R, 1, bf16, bf16, f64, double) HT_SCAN(name, R, 1, f32, float, f64, double)
#define INTEGERS(name, R) HT_SCAN(name, R, 1, i64, i64, i64, i64) HT_SCAN(name, R, 1, b8, b8, i64, i64)

template <class C> struct Sums {
  typedef C A;
  HT_FN A none() { return 0; }
  template <class V> HT_FN A of(V x, V, i64) { return (C)x; }
  HT_FN void merge(A& a, const A& b) { a += b; }
  HT_FN C value(A a) { return a; }
};
WIDER(cumsum, Sums<double>)
INTEGERS(cumsum, Sums<i64>)

// Products of floats keep their exponent apart (special.h), so that the order in which tiles come together can't overflow.
struct Products {
  typedef Scaled A;
  HT_FN A none() { return scaled(1); }
  template <class V> HT_FN A of(V x, V, i64) { return scaled((double)x); }
  HT_FN void merge(A& a, const A& b) { a = scaled_product(a, b); }
  HT_FN double value(const A& a) { return scaled_value(a); }
};
struct IntegerProducts {
  typedef i64 A;
  HT_FN A none() { return 1; }
  template <class V> HT_FN A of(V x, V, i64) { return (i64)x; }
  HT_FN void merge(A& a, const A& b) { a = (i64)((u64)a * (u64)b); }
  HT_FN i64 value(A a) { return a; }
};
WIDER(cumprod, Products)
INTEGERS(cumprod, IntegerProducts)

// recurrence: h[i] = a[i]·h[i-1] + b[i]. What some elements do to h before them is h -> a·h + b; odd says that one of their factors is not
// finite: where h is 0 a product of factors that overflowed counts for nothing, and an infinite factor does.
struct Affine { double a, b; i64 odd; };
struct Recurrence {
  typedef Affine A;
  HT_FN A none() { return Affine{1, 0, 0}; }
  template <class V> HT_FN A of(V a, V b, i64) { return Affine{(double)a, (double)b, !ht_finite((double)a)}; }
  HT_FN void merge(A& l, const A& r) {
    l.b = l.b == 0 && !r.odd && !ht_finite(r.a) ? r.b : r.a * l.b + r.b;
    l.a *= r.a;
    l.odd |= r.odd;
  }
  HT_FN double value(const A& v) { return v.b; }
};
FLOATS(recurrence, Recurrence, 2)

// logcumsumexp: the largest, and the sum of e^(x - largest).
struct LogSum { double m, s; };
struct LogSums {
  typedef LogSum A;
  HT_FN A none() { return LogSum{-ht_infinity(), 0}; }
  template <class V> HT_FN A of(V x, V, i64) { return LogSum{(double)x, 1}; }
  HT_FN void merge(A& a, const A& b) {
    if (a.m != a.m || b.s == 0) return;  // a NaN stays
    if (b.m != b.m || a.s == 0) { a = b; return; }
    const bool up = b.m > a.m;
    const double m = up ? b.m : a.m, low = up ? a.m : b.m, most = up ? b.s : a.s, less = up ? a.s : b.s;
    // Infinite ones count by their number; their difference is not a number.
    a.s = low == m ? most + less : (ht_finite(m) && ht_finite(low) ? most + less * exp64(low - m) : most);
    a.m = m;
  }
  HT_FN double value(const A& a) { return ht_finite(a.m) ? a.m + log64(a.s) : a.m; }
};
FLOATS(logcumsumexp, LogSums, 1)

// cummax_index and cummin_index: the last of several, and of NaN.
template <class C> struct Standing { C v; i64 at; };
template <int Sign, class C> struct Best {
  typedef Standing<C> A;
  HT_FN A none() { return A{0, -1}; }
  template <class V> HT_FN A of(V x, V, i64 i) { return A{(C)x, i}; }
  HT_FN void merge(A& a, const A& b) {
    if (b.at < 0) return;
    const bool beats = Sign > 0 ? b.v >= a.v : b.v <= a.v;
    if (a.at < 0 || b.v != b.v || (a.v == a.v && beats)) a = b;
  }
  HT_FN i64 value(const A& a) { return a.at; }
};
template <class C> struct Highest : Best<1, C> {};
template <class C> struct Lowest : Best<-1, C> {};
#define BESTS(S, T, C) HT_SCAN(cummax_index, Highest<C>, 1, S, T, i64, i64) HT_SCAN(cummin_index, Lowest<C>, 1, S, T, i64, i64)
BESTS(f16, f16, float) BESTS(bf16, bf16, float) BESTS(f32, float, float) BESTS(f64, double, double) BESTS(i64, i64, i64) BESTS(b8, b8, i64)
