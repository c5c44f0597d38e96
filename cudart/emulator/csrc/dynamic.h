// dynamic.h: the dynamic shared memory of a block. What a kernel touches behind its end is another's on a GPU; here it must not be the heap's.
#pragma once

#include <cstddef>
#include <cstdint>

namespace emu {

// DynamicMemory lies before pages that nobody may touch, as close as its alignment allows; what is left between holds a pattern.
class DynamicMemory {
 public:
  DynamicMemory() = default;
  DynamicMemory(const DynamicMemory&) = delete;
  DynamicMemory& operator=(const DynamicMemory&) = delete;
  ~DynamicMemory();

  // begin returns memory for a block, null if there is none.
  unsigned char* begin(size_t bytes);
  // overrun tells whether something was written between the end and the guard.
  bool overrun() const;
  // guards tells whether an address lies in the guard.
  bool guards(uint64_t address) const;

 private:
  unsigned char* map_ = nullptr;
  unsigned char* guard_ = nullptr;
  unsigned char* end_ = nullptr;
};

}  // namespace emu
