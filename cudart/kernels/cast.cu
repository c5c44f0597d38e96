// Conversions between dtypes: one rounding to nearest even.
#include "map.h"

struct cast_row { template <class C> HT_FN C f(C x, i64, const Map&) { return x; } };
#define CAST(S, D, A, O) \
  HT_KERNEL(cast_##S##_##D, Map, m) { map1<cast_row, O, A>(m); }
#define CASTS(S, A) CAST(S, f16, A, f16) CAST(S, bf16, A, bf16) CAST(S, f32, A, float) CAST(S, f64, A, double) CAST(S, i64, A, i64) CAST(S, b8, A, b8)
CASTS(f16, f16)
CASTS(bf16, bf16)
CASTS(f32, float)
CASTS(f64, double)
CASTS(i64, i64)
CASTS(b8, b8)
