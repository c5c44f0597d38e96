// fiber.h: stacks and the switch between them.
#pragma once

#include <cstddef>

extern "C" void emu_switch(void** save, void* to);

namespace emu {

constexpr size_t stackBytes = 128 << 10;  // untouched pages cost nothing

char* newStack();
void freeStack(char* stack);

// enterAt prepares a stack on which entry begins; entry must not return. The result is what emu_switch goes to.
void* enterAt(char* stack, void (*entry)());

}  // namespace emu
