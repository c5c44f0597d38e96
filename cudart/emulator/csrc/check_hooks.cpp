// check_hooks.cpp: the functions that code compiled with the thread sanitizer calls.
#ifdef HALFTONE_CHECK

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "check.h"
#include "state.h"

#define HOOK extern "C" __attribute__((visibility("default")))

HOOK void __tsan_init() {}
HOOK void __tsan_func_entry(void*) {}
HOOK void __tsan_func_exit() {}

#define ACCESS(n)                                                              \
  HOOK void __tsan_read##n(void* p) { emu::checkAccess(p, n, false); } \
  HOOK void __tsan_write##n(void* p) { emu::checkAccess(p, n, true); } \
  HOOK void __tsan_unaligned_read##n(void* p) { emu::checkRead(p, n); }        \
  HOOK void __tsan_unaligned_write##n(void* p) { emu::checkWrite(p, n); }      \
  HOOK void __tsan_volatile_read##n(void* p) { emu::checkRead(p, n); }         \
  HOOK void __tsan_volatile_write##n(void* p) { emu::checkWrite(p, n); }       \
  HOOK void __tsan_read_write##n(void* p) { emu::checkRead(p, n), emu::checkWrite(p, n); } \
  HOOK void __tsan_unaligned_read_write##n(void* p) { emu::checkRead(p, n), emu::checkWrite(p, n); }
ACCESS(1)
ACCESS(2)
ACCESS(4)
ACCESS(8)
ACCESS(16)

HOOK void __tsan_read_range(void* p, size_t n) { emu::checkRead(p, n); }
HOOK void __tsan_write_range(void* p, size_t n) { emu::checkWrite(p, n); }
HOOK void __tsan_vptr_read(void**) {}
HOOK void __tsan_vptr_update(void**, void*) {}
HOOK void* __tsan_memcpy(void* to, const void* from, size_t n) {
  emu::checkRead(from, n);
  emu::checkWrite(to, n);
  return std::memcpy(to, from, n);
}
HOOK void* __tsan_memmove(void* to, const void* from, size_t n) {
  emu::checkRead(from, n);
  emu::checkWrite(to, n);
  return std::memmove(to, from, n);
}
HOOK void* __tsan_memset(void* to, int v, size_t n) {
  emu::checkWrite(to, n);
  return std::memset(to, v, n);
}

// Atomic operations have told touchAtomic of themselves.
#define ATOMIC(bits, T)                                                                                                 \
  HOOK T __tsan_atomic##bits##_load(const volatile T* p, int) { return __atomic_load_n(p, __ATOMIC_SEQ_CST); }           \
  HOOK void __tsan_atomic##bits##_store(volatile T* p, T v, int) { __atomic_store_n(p, v, __ATOMIC_SEQ_CST); }           \
  HOOK T __tsan_atomic##bits##_fetch_add(volatile T* p, T v, int) { return __atomic_fetch_add(p, v, __ATOMIC_SEQ_CST); } \
  HOOK T __tsan_atomic##bits##_fetch_or(volatile T* p, T v, int) { return __atomic_fetch_or(p, v, __ATOMIC_SEQ_CST); }   \
  HOOK T __tsan_atomic##bits##_exchange(volatile T* p, T v, int) { return __atomic_exchange_n(p, v, __ATOMIC_SEQ_CST); } \
  HOOK int __tsan_atomic##bits##_compare_exchange_strong(volatile T* p, T* e, T v, int, int) {                           \
    return __atomic_compare_exchange_n(p, e, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);                              \
  }                                                                                                                     \
  HOOK int __tsan_atomic##bits##_compare_exchange_weak(volatile T* p, T* e, T v, int, int) {                             \
    return __atomic_compare_exchange_n(p, e, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);                              \
  }                                                                                                                     \
  HOOK T __tsan_atomic##bits##_compare_exchange_val(volatile T* p, T e, T v, int, int) {                                 \
    __atomic_compare_exchange_n(p, &e, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);                                    \
    return e;                                                                                                           \
  }
ATOMIC(32, uint32_t)
ATOMIC(64, uint64_t)
HOOK void __tsan_atomic_thread_fence(int) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }

#endif
