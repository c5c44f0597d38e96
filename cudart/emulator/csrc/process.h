// process.h: running the compiler.
#pragma once

#include <string>
#include <vector>

namespace emu {

// runProcess runs a program to its end, in a folder, and returns what it said on both of its outputs. It tells whether it succeeded.
bool runProcess(const std::vector<std::string>& command, const std::string& folder, std::string* said);

// removeFolder removes a folder of plain files.
void removeFolder(const std::string& folder);

}  // namespace emu
