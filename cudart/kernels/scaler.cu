// What a GradScaler and an optimizer count on the device, so that a step needs no word from the host: one thread each.
#include "prelude.h"

struct Scaler {
  void* ptr[4];
  i64 size;  // of the log; the growth interval
  double growth, backoff, floor;
};

// log_found: log[count mod size] = first, count += 1, first = none.
HT_KERNEL(log_found, Scaler, p) {
  i64 *log = (i64*)p.ptr[0], *count = (i64*)p.ptr[1], *first = (i64*)p.ptr[2];
  log[*count % p.size] = *first;
  *count += 1;
  *first = 0x7fffffffffffffffll;
}

// update_scale: products in double, rounded once; growth on equality, never to infinity; the inverse in double, rounded once.
HT_KERNEL(update_scale, Scaler, p) {
  float *scale = (float*)p.ptr[0], *inverse = (float*)p.ptr[2], *found = (float*)p.ptr[3];
  i64* tracker = (i64*)p.ptr[1];
  const float was = *scale;
  float now = was;
  if (*found != 0) {
    now = (float)((double)was * p.backoff);
    if (p.floor > 0 && (double)now < p.floor) now = (float)(p.floor < (double)was ? p.floor : (double)was);
    *tracker = 0;
  } else if (++*tracker == p.size) {
    now = (float)((double)was * p.growth);
    if (now - now != 0) now = was;
    *tracker = 0;
  }
  *scale = now;
  *inverse = (float)(1.0 / (double)now);
  *found = 0;
}

// count_step: steps += 1 unless something was found.
HT_KERNEL(count_step, Scaler, p) {
  const float* found = (const float*)p.ptr[1];
  if (!found || *found == 0) *(i64*)p.ptr[0] += 1;
}
