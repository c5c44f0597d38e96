// fiber.cpp: switching from one stack to another. Only what a called function must keep is saved: the rest is the caller's care.
#include "fiber.h"

#include <sys/mman.h>

#include <atomic>
#include <cstdint>
#include <new>

// emu_switch(void** save, void* to): saves registers and the stack pointer, then goes on where `to` was saved.
#if defined(__x86_64__)
asm(R"(
.text
.globl emu_switch
.hidden emu_switch
.type emu_switch,@function
emu_switch:
 pushq %rbp
 pushq %rbx
 pushq %r12
 pushq %r13
 pushq %r14
 pushq %r15
 movq %rsp,(%rdi)
 movq %rsi,%rsp
 popq %r15
 popq %r14
 popq %r13
 popq %r12
 popq %rbx
 popq %rbp
 ret
.size emu_switch,.-emu_switch
)");
static constexpr int saved = 6;
#elif defined(__aarch64__)
asm(R"(
.text
.globl emu_switch
.hidden emu_switch
.type emu_switch,%function
emu_switch:
 sub sp,sp,#160
 stp x19,x20,[sp,#0]
 stp x21,x22,[sp,#16]
 stp x23,x24,[sp,#32]
 stp x25,x26,[sp,#48]
 stp x27,x28,[sp,#64]
 stp x29,x30,[sp,#80]
 stp d8,d9,[sp,#96]
 stp d10,d11,[sp,#112]
 stp d12,d13,[sp,#128]
 stp d14,d15,[sp,#144]
 mov x9,sp
 str x9,[x0]
 mov sp,x1
 ldp x19,x20,[sp,#0]
 ldp x21,x22,[sp,#16]
 ldp x23,x24,[sp,#32]
 ldp x25,x26,[sp,#48]
 ldp x27,x28,[sp,#64]
 ldp x29,x30,[sp,#80]
 ldp d8,d9,[sp,#96]
 ldp d10,d11,[sp,#112]
 ldp d12,d13,[sp,#128]
 ldp d14,d15,[sp,#144]
 add sp,sp,#160
 ret
.size emu_switch,.-emu_switch
)");
#else
#error "the emulator switches stacks on x86-64 and arm64 only"
#endif

namespace emu {

// Stacks lie in one region of addresses, so that it is quick to tell what is one.
static constexpr size_t regionBytes = size_t(8) << 30;
static std::atomic<char*> region{nullptr};
static std::atomic<size_t> used{0};

char* newStack() {
  static char* begin = [] {
    void* p = mmap(nullptr, regionBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) throw std::bad_alloc();
    region = static_cast<char*>(p);
    return static_cast<char*>(p);
  }();
  // 64 KB that can't be touched lie below, so that an overflow is a fault and not a neighbor's broken variable.
  constexpr size_t below = 64 << 10;
  size_t at = used.fetch_add(stackBytes + below);
  if (at + stackBytes + below > regionBytes) throw std::bad_alloc();
  char* p = begin + at + below;
  if (mprotect(p, stackBytes, PROT_READ | PROT_WRITE)) throw std::bad_alloc();
  return p;
}

bool onStack(uintptr_t p) {
  auto begin = reinterpret_cast<uintptr_t>(region.load(std::memory_order_relaxed));
  return begin && p >= begin && p < begin + regionBytes;
}

void* enterAt(char* stack, void (*entry)()) {
  auto* top = reinterpret_cast<uintptr_t*>(stack + stackBytes);
#if defined(__x86_64__)
  *--top = 0;  // where entry would return to; it also leaves the stack aligned as after a call
  *--top = reinterpret_cast<uintptr_t>(entry);
  for (int i = 0; i < saved; i++) *--top = 0;
#else
  top -= 20;
  for (int i = 0; i < 20; i++) top[i] = 0;
  top[11] = reinterpret_cast<uintptr_t>(entry);  // x30
#endif
  return top;
}

}  // namespace emu
