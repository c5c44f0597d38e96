// fiber.h: stacks and the switch between them.
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" void emu_switch(void** save, void* to);

namespace emu {

constexpr size_t stackBytes = 128 << 10;  // untouched pages cost nothing

char* newStack();  // for good: schedulers live as long as their threads, and those as long as the program
bool onStack(uintptr_t p);

// enterAt prepares a stack on which entry begins; entry must not return. The result is what emu_switch goes to.
void* enterAt(char* stack, void (*entry)());

}  // namespace emu
