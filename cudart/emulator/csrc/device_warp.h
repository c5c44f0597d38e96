// Warp operations: shuffles, votes, and the tensor core's matrix product. Part of device.h.
#pragma once

namespace emu {

// Exchange is what a lane brings to a shuffle: its value, the lane it reads, and the answer.
struct Exchange {
  uint64_t value;
  int source;
  uint64_t result;
};

EMU_UNCHECKED inline void exchangeStep(void** lanes, unsigned) {
  for (int i = 0; i < 32; i++) {
    if (!lanes[i]) continue;
    auto* mine = static_cast<Exchange*>(lanes[i]);
    auto* theirs = static_cast<Exchange*>(lanes[mine->source]);
    // A lane that takes no part has no value: what the hardware returns is undefined, here it is a pattern that is NaN in every type.
    mine->result = theirs ? theirs->value : ~uint64_t(0);
  }
}

template <class T>
inline T shuffle(unsigned mask, T value, int source) {
  static_assert(sizeof(T) <= 8, "shuffles move 4 or 8 bytes");
  Exchange e{0, source, 0};
  std::memcpy(&e.value, &value, sizeof value);
  warp(mask, &e, exchangeStep, false);
  T result;
  std::memcpy(static_cast<void*>(&result), &e.result, sizeof result);
  return result;
}

inline int lane() { return static_cast<int>(linearOf() & 31); }

EMU_UNCHECKED inline void voteStep(void** lanes, unsigned) {
  uint64_t bits = 0;
  for (int i = 0; i < 32; i++)
    if (lanes[i] && static_cast<Exchange*>(lanes[i])->value) bits |= uint64_t(1) << i;
  for (int i = 0; i < 32; i++)
    if (lanes[i]) static_cast<Exchange*>(lanes[i])->result = bits;
}

}  // namespace emu

// The width splits a warp into segments; a source outside of the lane's own segment is the lane itself.
template <class T>
inline T __shfl_sync(unsigned mask, T v, int source, int width = 32) {
  return emu::shuffle(mask, v, (emu::lane() & ~(width - 1)) | (source & (width - 1)));
}
template <class T>
inline T __shfl_down_sync(unsigned mask, T v, unsigned delta, int width = 32) {
  int l = emu::lane(), in = l & (width - 1);
  return emu::shuffle(mask, v, in + static_cast<int>(delta) < width ? l + static_cast<int>(delta) : l);
}
template <class T>
inline T __shfl_up_sync(unsigned mask, T v, unsigned delta, int width = 32) {
  int l = emu::lane(), in = l & (width - 1);
  return emu::shuffle(mask, v, in >= static_cast<int>(delta) ? l - static_cast<int>(delta) : l);
}
template <class T>
inline T __shfl_xor_sync(unsigned mask, T v, int with, int width = 32) {
  int l = emu::lane(), other = l ^ with;
  return emu::shuffle(mask, v, (other & ~(width - 1)) <= (l & ~(width - 1)) ? other : l);
}
inline unsigned __ballot_sync(unsigned mask, int predicate) {
  emu::Exchange e{predicate ? 1u : 0u, 0, 0};
  emu::warp(mask, &e, emu::voteStep, false);
  return static_cast<unsigned>(e.result);
}
inline int __any_sync(unsigned mask, int predicate) { return __ballot_sync(mask, predicate) != 0; }
inline int __all_sync(unsigned mask, int predicate) { return __ballot_sync(mask, !predicate) == 0; }
