// kernel.h: how the driver API finds kernels. Each .cu ends, when it is compiled here, in a table of its kernels.
#pragma once

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

namespace emu {

// Kernel is one __global__ function: how to call it with a launch's parameters, and their sizes. threads is what its __launch_bounds__
// says, 0 where it has none or its PTX says it.
struct Kernel {
  const char* name;
  void (*call)(void** params);
  const unsigned* sizes;
  unsigned count;
  unsigned threads;
};

// Table is a list of tables.
struct Table {
  const Kernel* kernels;
  size_t count;
  Table* next;
};

// Unpack reads the parameters by the kernel's own signature.
template <auto K>
struct Unpack;

template <class... A, void (*K)(A...)>
struct Unpack<K> {
  static_assert((std::is_trivially_copyable_v<A> && ...), "a kernel's parameters are copied by their bytes");
  static constexpr unsigned sizes[sizeof...(A) + 1] = {sizeof(A)..., 0};
  static constexpr unsigned count = sizeof...(A);
  static constexpr size_t bytes = (sizeof(A) + ... + 0);
  template <size_t... I>
  static void with(void** p, std::index_sequence<I...>) {
    K(*static_cast<std::remove_const_t<A>*>(p[I])...);
  }
  static void call(void** p) { with(p, std::index_sequence_for<A...>{}); }
};

void addTable(Table* t);     // of this library
const Kernel* findKernel(const Table* t, const char* name);
const Table* ownTables();

}  // namespace emu

#define HALFTONE_EMULATED_KERNEL(k, threads) \
  { #k, &emu::Unpack<&k>::call, emu::Unpack<&k>::sizes, emu::Unpack<&k>::count, threads }
