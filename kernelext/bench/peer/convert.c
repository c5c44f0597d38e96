// What a C programmer would write for the conversions between float32 and its halves: a loop of intrinsics over each thread's part.
// Package bench compiles it with -O3 -march=native where there is gcc, and times it beside ours.
#include <immintrin.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

typedef void (*loop)(void *dst, const void *src, long lo, long hi);

#ifdef __AVX512F__
static void f32_f16_loop(void *d, const void *s, long lo, long hi) {
	for (long i = lo; i < hi; i += 16)
		_mm256_storeu_si256((__m256i *)((uint16_t *)d + i), _mm512_cvtps_ph(_mm512_loadu_ps((const float *)s + i), 0));
}
static void f16_f32_loop(void *d, const void *s, long lo, long hi) {
	for (long i = lo; i < hi; i += 16)
		_mm512_storeu_ps((float *)d + i, _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)((const uint16_t *)s + i))));
}
#else
static void f32_f16_loop(void *d, const void *s, long lo, long hi) {
	for (long i = lo; i < hi; i += 8)
		_mm_storeu_si128((__m128i *)((uint16_t *)d + i), _mm256_cvtps_ph(_mm256_loadu_ps((const float *)s + i), 0));
}
static void f16_f32_loop(void *d, const void *s, long lo, long hi) {
	for (long i = lo; i < hi; i += 8)
		_mm256_storeu_ps((float *)d + i, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)((const uint16_t *)s + i))));
}
#endif

// The compiler vectorises these two.
static void f32_bf16_loop(void *d, const void *s, long lo, long hi) {
	const uint32_t *src = s;
	uint16_t *dst = d;
	for (long i = lo; i < hi; i++) {
		uint32_t u = src[i];
		dst[i] = (u & 0x7fffffff) > 0x7f800000 ? (u >> 16) | 0x40 : (u + 0x7fff + (u >> 16 & 1)) >> 16;
	}
}
static void bf16_f32_loop(void *d, const void *s, long lo, long hi) {
	const uint16_t *src = s;
	uint32_t *dst = d;
	for (long i = lo; i < hi; i++) dst[i] = (uint32_t)src[i] << 16;
}

struct part {
	loop f;
	void *dst;
	const void *src;
	long lo, hi;
};

static void *work(void *p) {
	struct part *w = p;
	w->f(w->dst, w->src, w->lo, w->hi);
	return 0;
}

static void split(loop f, void *dst, const void *src, long n, int threads) {
	pthread_t id[64];
	struct part w[64];
	if (threads > 64) threads = 64;
	long step = (n / threads + 63) & ~63L;
	for (int t = 0; t < threads; t++) {
		long lo = t * step, hi = t == threads - 1 ? n : lo + step;
		w[t] = (struct part){f, dst, src, lo, hi};
		if (t > 0) pthread_create(&id[t], 0, work, &w[t]);
	}
	work(&w[0]);
	for (int t = 1; t < threads; t++) pthread_join(id[t], 0);
}

void f32_f16(void *d, const void *s, long n, int t) { split(f32_f16_loop, d, s, n, t); }
void f16_f32(void *d, const void *s, long n, int t) { split(f16_f32_loop, d, s, n, t); }
void f32_bf16(void *d, const void *s, long n, int t) { split(f32_bf16_loop, d, s, n, t); }
void bf16_f32(void *d, const void *s, long n, int t) { split(bf16_f32_loop, d, s, n, t); }

// filled returns touched memory whose halves are ordinary numbers.
void *filled(long bytes) {
	uint16_t *p = aligned_alloc(64, bytes);
	for (long i = 0; i < bytes / 2; i++) p[i] = 0x3c00 + (i & 0x3ff);
	return p;
}
