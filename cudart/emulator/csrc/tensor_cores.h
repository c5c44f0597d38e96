// tensor_cores.h: products of warpgroups on tensor cores, as the PTX ISA has them ("Asynchronous Warpgroup Level Matrix Multiply-Accumulate
// Instructions"). A product reads shared memory from the moment it is queued until it has been waited for, and its sums are in no register
// meanwhile: what is written there, or read here, in that time is found.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "state.h"

namespace emu {

// WgmmaOperand is an operand in shared memory.
struct WgmmaOperand {
  uint32_t start, leading, stride;  // in bytes
  int swizzle;                      // bytes of a row whose 16-byte pieces are mixed, 16 for none

  explicit WgmmaOperand(uint64_t bits);
  // piece is where 8 halves lie that are one behind the other: of a row or column mn the terms k …, or, if turned, of a term k those of mn ….
  uint32_t piece(bool turned, int mn, int k) const;
};

// WgmmaSums are the registers of a warp, 16 rows, that products are under way for.
struct WgmmaSums {
  std::vector<float*> registers;  // of each lane, one lane after the other
  std::vector<float> values;      // row by row
  int products = 0;
};

// WgmmaProduct is one that is queued, and what its operands were then.
struct WgmmaProduct {
  Wgmma what;
  WgmmaSums* sums;
  std::vector<uint16_t> a, b;  // terms of each row, and column
};

class TensorCores {
 public:
  void begin(uint64_t threads, unsigned sharedBytes);  // of a block
  void idle() { fences_.clear(); }                     // until the next block's begin
  bool working() const { return !fences_.empty(); }
  // copied notes that a thread has written to shared memory by cp.async; fenced that it has executed fence.proxy.async. A product asks for the fence
  // of who wrote; that the ISA takes one of the reader's behind a barrier as well makes no difference to a kernel that has the first.
  void copied(unsigned thread, uint64_t at, int bytes);
  void fenced(unsigned thread) { fences_[thread]++; }
  void ended();  // all threads have: every warp of a warpgroup must have done the same

  // What a warp does once all its lanes are there; thread is one of them.
  void fence(unsigned thread) { warps_[thread / 32].fenced = true; }
  void issue(unsigned thread, void** lanes);
  void commit(unsigned thread);
  void wait(unsigned thread, int keep);

 private:
  struct Warp {
    bool fenced = false;
    size_t issued = 0;
    std::vector<WgmmaProduct> open;  // of the group that is not committed
    std::vector<std::vector<WgmmaProduct>> groups;
    std::vector<std::unique_ptr<WgmmaSums>> sums;
  };
  // Issued is what the warps of a warpgroup must agree on.
  struct Issued {
    uint64_t a, b;
    int n;
  };
  struct Written {
    uint32_t thread, fences;  // one more than the thread, and how many fences it had executed
  };
  WgmmaSums* sumsOf(Warp& warp, void** lanes);
  void gather(const WgmmaOperand& d, bool turned, int first, int count, std::vector<uint16_t>* to);
  void operands(unsigned thread, const Wgmma& w, std::vector<uint16_t>* a, std::vector<uint16_t>* b);
  void finish(unsigned thread, Warp& warp, WgmmaProduct& p);

  std::vector<Warp> warps_;
  std::vector<std::vector<Issued>> groups_;  // of each warpgroup, in order
  std::vector<Written> written_;             // for every 16 bytes of dynamic shared memory
  std::vector<uint32_t> fences_;             // of each thread
};

}  // namespace emu
