// What convolutions read (conv_mma.cu, conv_f32.cu): images with channels last and zeros around them, and weights tap by tap. Elements are of
// 16 or 32 bits, of whatever type.
#include "prelude.h"

enum { PACK_THREADS = 256, PACK_PLACES = 64, PACK_CHANNELS = 64 };

struct ConvPack {
  void* out;              // [images][to][groups][width]
  const void* in;         // [images][groups·channels][from]
  int images, groups, channels, width;   // width: channels, and zeros up to whole pieces of 16 bytes
  int from[3], to[3], before[3];         // sizes; how many zeros lie before the first element, or how many elements are left out, below 0
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
    const int u = at[d] - p.before[d];
    if (u < 0 || u >= p.from[d]) return -1;
    from = from * p.from[d] + u;
  }
  return from;
}

// A block turns 64 places of an image and 64 channels round in shared memory: both sides are read and written in lines.
template <class T> HT_FN void pack_images(const ConvPack& p) {
  const int E = 16 / (int)sizeof(T), pieces = PACK_CHANNELS / E;
  __shared__ T tile[PACK_CHANNELS][PACK_PLACES + 4 / (int)sizeof(T)];
  const int t = threadIdx.x, plane = p.to[0] * p.to[1] * p.to[2], tiles = (plane + PACK_PLACES - 1) / PACK_PLACES;
  const int image = (int)(blockIdx.x / tiles), first = (int)(blockIdx.x % tiles) * PACK_PLACES, all = p.groups * p.width;
  const i64 size = (i64)p.from[0] * p.from[1] * p.from[2];
  const int c0 = (int)blockIdx.y * PACK_CHANNELS, mine = first + t % PACK_PLACES;
  const i64 from = mine < plane ? pack_source(p, mine) : -1;
  const T* in = (const T*)p.in + (i64)image * p.groups * p.channels * size + (from < 0 ? 0 : from);
  HT_UNROLL for (int i = 0; i < PACK_CHANNELS * PACK_PLACES / PACK_THREADS; i++) {
    const int row = t / PACK_PLACES + i * (PACK_THREADS / PACK_PLACES), c = c0 + row, group = c / p.width, channel = c - group * p.width;
    tile[row][t % PACK_PLACES] = from >= 0 && c < all && channel < p.channels ? in[(group * p.channels + channel) * size] : (T)0;
  }
  __syncthreads();
  struct alignas(16) Piece { T v[E]; };
  HT_UNROLL for (int i = 0; i < pieces * PACK_PLACES / PACK_THREADS; i++) {
    const int piece = t % pieces, place = t / pieces + i * (PACK_THREADS / pieces), c = c0 + piece * E;
    if (first + place >= plane || c >= all) continue;
    Piece v;
    HT_UNROLL for (int e = 0; e < E; e++) v.v[e] = tile[piece * E + e][place];
    *(Piece*)((T*)p.out + ((i64)image * plane + first + place) * all + c) = v;
  }
}
HT_KERNEL(conv_pack_images_w16, ConvPack, p) { pack_images<unsigned short>(p); }
HT_KERNEL(conv_pack_images_w32, ConvPack, p) { pack_images<u32>(p); }

enum { WEIGHTS_TAPS = 16 };
struct ConvWeights {
  void* out;              // [phases][groups][m][room][width], or of float32 [phases][groups][room][width][rows]; what lies behind a phase's taps stays
  const void* in;         // [groups·m][channels][taps], or [groups·channels][m][taps] of a transposed convolution
  int groups, m, channels, width, rows;  // width and rows: channels and m, and zeros up to whole pieces
  int kernel[3], period[3];              // taps that are a period apart are of one phase: in each dimension the one of tap % period
  int room, transposed;   // taps of the largest phase; those of a transposed convolution are put in reverse
};

// weight_tap is where a tap lies: its phase, and which of the phase's taps it is.
HT_FN int weight_tap(const ConvWeights& p, int tap, int& phase) {
  int at[3], place = 0;
  at[2] = tap % p.kernel[2];
  tap /= p.kernel[2];
  at[1] = tap % p.kernel[1];
  at[0] = tap / p.kernel[1];
  phase = 0;
  HT_UNROLL for (int d = 0; d < 3; d++) {
    const int n = p.kernel[d], every = p.period[d], first = at[d] % every, k = at[d] / every, taps = (n - first + every - 1) / every;
    phase = phase * (n < every ? n : every) + first;
    place = place * taps + (p.transposed ? taps - 1 - k : k);
  }
  return place;
}

// A block takes 32 by 8 channels and rows of m, for each of 16 taps after another, so that it reads whole lines of memory and writes them. RowsLast
// says whether rows of m follow each other in the result.
template <class T, bool RowsLast> HT_FN void pack_weights(const ConvWeights& p) {
  __shared__ i64 place[WEIGHTS_TAPS];
  const int t = threadIdx.x, fast = t % 32, slow = t / 32, taps = p.kernel[0] * p.kernel[1] * p.kernel[2], first = (int)blockIdx.y * WEIGHTS_TAPS;
  const int many = RowsLast ? p.rows : p.width, tiles = (many + 31) / 32, group = blockIdx.z;
  const i64 part = (i64)p.room * p.width * p.rows;  // of a group of a phase
  if (t < WEIGHTS_TAPS && first + t < taps) {
    int phase;
    const int at = weight_tap(p, first + t, phase);
    place[t] = phase * p.groups * part + (i64)at * p.width * (RowsLast ? p.rows : 1);
  }
  __syncthreads();
  const int x = (int)(blockIdx.x % tiles) * 32 + fast, y = (int)(blockIdx.x / tiles) * 8 + slow;
  const int c = RowsLast ? y : x, m = RowsLast ? x : y;
  if (c >= p.width || m >= p.rows) return;
  const bool there = c < p.channels && m < p.m;
  const T* in = (const T*)p.in + (p.transposed ? ((i64)group * p.channels + c) * p.m + m : ((i64)group * p.m + m) * p.channels + c) * taps + first;
  T* out = (T*)p.out + group * part + (RowsLast ? (i64)c * p.rows + m : (i64)m * p.room * p.width + c);
  HT_UNROLL for (int i = 0; i < WEIGHTS_TAPS; i++) if (first + i < taps) out[place[i]] = there ? in[i] : (T)0;
}
HT_KERNEL(conv_pack_weights_w16, ConvWeights, p) { pack_weights<unsigned short, false>(p); }
HT_KERNEL(conv_pack_weights_w32, ConvWeights, p) { pack_weights<u32, true>(p); }
