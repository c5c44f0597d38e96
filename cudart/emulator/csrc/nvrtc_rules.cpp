// nvrtc_rules.cpp: see nvrtc_rules.h.
#include "nvrtc_rules.h"

#include <elf.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <sstream>

namespace emu {

static const char* const hostFunction =
    "A function without execution space annotations (__host__/__device__/__global__) is considered a host function, and host functions are not allowed in JIT "
    "mode. Consider using -default-device flag to process unannotated functions as __device__ functions in JIT mode";
static const char* const markedHost = "A function explicitly marked as a __host__ function is not allowed in JIT mode";
static const char* const hostVariable =
    "A namespace scope variable without memory space annotations (__device__/__constant__/__shared__/__managed__) is considered a host variable, and host "
    "variables are not allowed in JIT mode. Consider using -default-device flag to process unannotated namespace scope variables as __device__ variables in JIT mode";

namespace {

// A Statement is text up to a brace or semicolon, as words and single characters.
struct Statement {
  std::vector<std::string> words;
  int line = 0;  // of its first word

  bool has(const char* w) const { return std::find(words.begin(), words.end(), w) != words.end(); }
  size_t at(const char* w) const { return static_cast<size_t>(std::find(words.begin(), words.end(), w) - words.begin()); }
  // bare says whether a word stands in no parentheses: those of parameters, or of launch bounds before the type.
  bool bare(const char* w) const {
    int depth = 0;
    for (const std::string& word : words) {
      if (depth == 0 && word == w) return true;
      depth += (word == "(") - (word == ")");
    }
    return false;
  }
  // kind says what a brace behind it opens.
  enum Kind { space, record, function, other };
  Kind kind() const {
    if (words.empty()) return other;
    if (has("namespace") || (words[0] == "extern" && words.size() == 2)) return space;
    if (words[0] == "enum" || has("=")) return other;
    size_t first = words[0] == "template" ? std::min(std::min(at("struct"), at("class")), at("union")) : 0;
    bool named = first < words.size() && (words[first] == "struct" || words[first] == "class" || words[first] == "union");
    if (named && !has("(")) return record;
    return has("(") ? function : other;
  }
  // variable says whether it declares one of a plain type that is not a constant.
  bool variable() const {
    static const char* const types[] = {"int", "float", "double", "unsigned", "long", "short", "char", "bool", "signed", "static"};
    if (words.size() < 2 || at("(") < at("=") || has("const") || has("constexpr") || has("halftone_device")) return false;
    return std::any_of(std::begin(types), std::end(types), [&](const char* t) { return words[0] == t; }) && !(words[0] == "static" && words[1] == "emu");
  }
};

}  // namespace

std::string programText(const std::string& scanned, const std::string& folder) {
  std::string out;
  std::istringstream in(scanned);
  bool ours = false;
  for (std::string l; std::getline(in, l);) {
    bool marker = l.compare(0, 2, "# ") == 0;
    size_t quote = marker ? l.find('"') : std::string::npos;
    if (marker) ours = quote != std::string::npos && l.compare(quote + 1, folder.size() + 1, folder + "/") == 0;
    if (ours) out += l + "\n";
  }
  return out;
}

std::string annotations(const std::string& text, const std::string& folder, const std::vector<std::string>& lines, int* errors) {
  std::string out, file;
  std::vector<Statement::Kind> open;
  Statement s;
  int line = 0;
  *errors = 0;
  auto complain = [&](const char* what) {
    ++*errors;
    out += file + "(" + std::to_string(s.line) + "): error: " + what + "\n";
    auto n = static_cast<size_t>(s.line);
    if (n >= 1 && n <= lines.size()) out += "  " + lines[n - 1] + "\n  ^\n";
    out += "\n";
  };
  std::istringstream in(text);
  for (std::string l; std::getline(in, l); line++) {
    if (l.compare(0, 2, "# ") == 0) {
      size_t quote = l.find('"');
      line = std::atoi(l.c_str() + 2) - 1;
      if (quote != std::string::npos) file = l.substr(quote + folder.size() + 2, l.find('"', quote + 1) - quote - folder.size() - 2);
      continue;
    }
    for (size_t i = 0; i < l.size();) {
      char c = l[i];
      if (std::isspace(static_cast<unsigned char>(c))) {
        i++;
        continue;
      }
      size_t begin = i;
      if (c == '"' || c == '\'') {
        for (i++; i < l.size() && l[i] != c; i++) i += l[i] == '\\';
        i++;
      } else if (std::isalnum(static_cast<unsigned char>(c)) || c == '_') {
        while (i < l.size() && (std::isalnum(static_cast<unsigned char>(l[i])) || l[i] == '_')) i++;
      } else {
        i++;
      }
      std::string word = l.substr(begin, i - begin);
      bool outside = open.empty() || open.back() == Statement::space, member = !open.empty() && open.back() == Statement::record;
      if (word == "}") {
        if (!open.empty()) open.pop_back();
        s = Statement();
      } else if (word == "{") {
        Statement::Kind kind = outside || member ? s.kind() : Statement::other;
        if (kind == Statement::function) {
          if (s.has("halftone_global")) {
            if (!s.bare("void")) complain("a __global__ function must have a void return type");
          } else if (!s.has("halftone_device")) {
            complain(s.has("halftone_host") ? markedHost : hostFunction);
          }
        } else if (outside && kind == Statement::other && s.variable()) {
          complain(hostVariable);
        }
        open.push_back(kind);
        s = Statement();
      } else if (word == ";") {
        if (outside && s.variable()) complain(hostVariable);
        s = Statement();
      } else {
        if (s.words.empty()) s.line = line;
        if (!(member && word == ":" && s.words.size() == 1)) s.words.push_back(word);
        else s = Statement();  // public:
      }
    }
  }
  return out;
}

std::string missing(const std::string& text) {
  if (text.compare(0, 3, "'__") == 0 && text.find("was not declared in this scope") != std::string::npos)
    return text + " (the emulator has not all of CUDA's functions)";
  size_t end = text.find(": No such file or directory");
  if (end == std::string::npos) return text;
  return "could not open source file \"" + text.substr(0, end) + "\" (no directories in search list)";
}

Symbols::Symbols(const char* elf) {
  Elf64_Ehdr header;
  std::memcpy(&header, elf, sizeof header);
  auto section = [&](unsigned i) {
    Elf64_Shdr s;
    std::memcpy(&s, elf + header.e_shoff + sizeof s * i, sizeof s);
    return s;
  };
  for (unsigned i = 0; i < header.e_shnum; i++) {
    Elf64_Shdr table = section(i);
    if (table.sh_type != SHT_SYMTAB) continue;
    const char* names = elf + section(table.sh_link).sh_offset;
    for (uint64_t at = 0; at + sizeof(Elf64_Sym) <= table.sh_size; at += sizeof(Elf64_Sym)) {
      Elf64_Sym symbol;
      std::memcpy(&symbol, elf + table.sh_offset + at, sizeof symbol);
      if (symbol.st_shndx == SHN_UNDEF) continue;
      if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC) functions.insert(names + symbol.st_name);
      if (ELF64_ST_TYPE(symbol.st_info) != STT_TLS) continue;
      shared += static_cast<int>(symbol.st_size);
      largest = std::max(largest, static_cast<int>(symbol.st_size));
    }
  }
}

std::string Symbols::linked(const std::string& kernel) const {
  if (functions.count(kernel)) return kernel;
  std::string begin = "_Z" + std::to_string(kernel.size()) + kernel;
  auto i = functions.lower_bound(begin);
  return i != functions.end() && i->compare(0, begin.size(), begin) == 0 ? *i : kernel;
}

}  // namespace emu
