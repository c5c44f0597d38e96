// Atomic operations. Part of device.h. Blocks run on several OS threads, so these are real atomics.
#pragma once

namespace emu {
template <class T, class F>
inline T atomicUpdate(T* p, F next) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "atomics are of 4 or 8 bytes");
  touchAtomic(p, sizeof(T));
  T old, neu;
  __atomic_load(p, &old, __ATOMIC_RELAXED);
  do {
    neu = next(old);
  } while (!__atomic_compare_exchange(p, &old, &neu, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
  return old;
}
}  // namespace emu

template <class T> inline T atomicAdd(T* p, T v) { return emu::atomicUpdate(p, [v](T o) { return static_cast<T>(o + v); }); }
template <class T> inline T atomicSub(T* p, T v) { return emu::atomicUpdate(p, [v](T o) { return static_cast<T>(o - v); }); }
template <class T> inline T atomicMax(T* p, T v) { return emu::atomicUpdate(p, [v](T o) { return o > v ? o : v; }); }
template <class T> inline T atomicMin(T* p, T v) { return emu::atomicUpdate(p, [v](T o) { return o < v ? o : v; }); }
template <class T> inline T atomicOr(T* p, T v) { return emu::atomicUpdate(p, [v](T o) { return static_cast<T>(o | v); }); }
template <class T> inline T atomicAnd(T* p, T v) { return emu::atomicUpdate(p, [v](T o) { return static_cast<T>(o & v); }); }
template <class T> inline T atomicExch(T* p, T v) { return emu::atomicUpdate(p, [v](T) { return v; }); }
template <class T>
inline T atomicCAS(T* p, T expected, T v) {
  return emu::atomicUpdate(p, [=](T o) { return o == expected ? v : o; });
}
