// memory.h: the device's memory. It is a file in memory (memfd), mapped twice: at the addresses that the host is given, where it
// can be touched only while kernels run, and at a second place that only the emulator knows, for copies. So a program that
// dereferences a device pointer faults, as it does with a real device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <string>
#include <vector>

namespace emu {

struct Pool;

bool sanitized();  // the program was started with the address sanitizer's runtime

struct Allocation {
  uint64_t address = 0, bytes = 0, span = 0;  // span: with what lies between it and the next one
  const char* kind = "";                      // the call that made it
  Pool* pool = nullptr;
  int device = 0;
  uint64_t serial = 0;
  bool releasing = false;  // given to cuMemFreeAsync, which has not run yet
};

// Pool is a stream-ordered memory pool's bookkeeping.
struct Pool {
  int device = 0;
  uint64_t threshold = 0, used = 0, usedHigh = 0, reserved = 0, reservedHigh = 0;
  bool isDefault = false;
  void take(uint64_t bytes);
  void give(uint64_t bytes);
  void trim(uint64_t keep);
};

// Mapping is memory of a file of its own: made by cuMemCreate, or another process's.
struct Mapping {
  uint64_t address = 0, bytes = 0;
  char* alias = nullptr;
};

class Memory {
 public:
  bool init(uint64_t total, bool fence);
  // allocate returns null when there is no room.
  Allocation* allocate(uint64_t bytes, const char* kind, int device, Pool* pool);
  // release returns an allocation's memory. The result says what was written beyond its end; mostly nothing.
  std::string release(Allocation* a);
  Allocation* find(uint64_t address);    // that contains the address
  Allocation* exactly(uint64_t address);  // that begins there
  // host returns where the emulator reaches n bytes at a device address, null if they are not all of one allocation.
  char* host(uint64_t address, uint64_t n);
  std::string describe(uint64_t address) const;  // for messages: what is, was or would be there
  bool known(uint64_t address) const;      // in a living allocation, or right behind one
  bool isDevice(uint64_t address) const { return address >= base_ && address < base_ + 2 * size; }

  // fence marks a part of an allocation that a program hands out itself: its first bytes may be touched, what lies between them and
  // total is filled with a pattern and may not. unfence says what was written there, and then nothing of it may be touched.
  void fence(uint64_t address, uint64_t bytes, uint64_t total);
  std::string unfence(uint64_t address, uint64_t bytes, uint64_t total);

  // reserve, map and unmap serve cuMemAddressReserve, cuMemMap and IPC.
  uint64_t reserve(uint64_t bytes);
  bool map(uint64_t address, uint64_t bytes, int fd, uint64_t offset);
  void unmap(uint64_t address);
  bool mapped(uint64_t address) const { return mappings_.count(address) != 0; }

  // open lets kernels, and everybody else, touch device memory; close ends that. Both visit every page that was ever touched. Where the
  // processor has protection keys they do nothing: the threads that run kernels may touch it, once they called admit, and others never.
  void open();
  void close();
  void admit() const;

  int file() const { return file_; }
  uint64_t offset(uint64_t address) const { return address - base_; }
  const std::map<uint64_t, Allocation>& live() const { return live_; }
  // valid has a byte for each 16 bytes of device memory: how many of them may be touched. Only the checked build keeps it.
  const uint8_t* valid() const { return valid_; }
  uint64_t base() const { return base_; }

  static constexpr uint64_t size = uint64_t(64) << 30;  // of addresses, for each of the two kinds; 1/16 of it with less room
  static constexpr uint64_t gap = 256;                  // between allocations, filled with a pattern

 private:
  uint64_t place(uint64_t span);
  void setValid(uint64_t address, uint64_t bytes, bool yes);
  void protect(int how);
  void forget();
  bool usesOpening() const { return fence_ && key_ < 0; }

  int file_ = -1;
  int key_ = -1;  // protection key of device memory, -1 without
  bool fence_ = true, isOpen_ = false;
  uint64_t base_ = 0, top_ = 0, mapTop_ = 0, serial_ = 0;
  char* alias_ = nullptr;
  uint8_t* valid_ = nullptr;
  std::map<uint64_t, Allocation> live_;
  std::map<uint64_t, uint64_t> holes_;                // address → span, free to be used
  std::list<std::pair<uint64_t, uint64_t>> resting_;  // freed a short while ago: not used again yet, so that late readers are seen
  uint64_t restingBytes_ = 0;
  std::map<uint64_t, Mapping> mappings_;
};

}  // namespace emu
