// tensor_cores.cpp: see tensor_cores.h.
#include "tensor_cores.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "block.h"
#include "check.h"

namespace emu {

constexpr int terms = 16, warpRows = 16, lanesOfWarp = 32;

// Bits that must be zero: the fields are 14 bits wide, of 18 bits without the lowest 4.
constexpr uint64_t unused = ~(uint64_t(3) << 62 | uint64_t(7) << 49 | uint64_t(0x3fff) << 32 | uint64_t(0x3fff) << 16 | 0x3fff);

WgmmaOperand::WgmmaOperand(uint64_t bits) {
  if (bits & unused) trap("wgmma with a descriptor that has bits set beside its fields");
  if (bits >> 49 & 7) trap("wgmma with a base offset, which the emulator does not know");
  start = static_cast<uint32_t>(bits & 0x3fff) << 4;
  leading = static_cast<uint32_t>(bits >> 16 & 0x3fff) << 4;
  stride = static_cast<uint32_t>(bits >> 32 & 0x3fff) << 4;
  constexpr int widths[] = {16, 128, 64, 32};
  swizzle = widths[bits >> 62];
}

// The canonical layouts, with elements of 16 bits (T = 8). W pieces make a row of the swizzle's bytes, 8 rows its pattern, which begins at a multiple
// of its bytes: the piece's number in a row is mixed with the row's.
//   along k:  ((8,m),(8,2)) : ((W·16 B, stride), (2 B, 16 B)), without swizzle the second piece is at leading
//   turned:   ((8,W,m),(8,2)) : ((2 B, 16 B, leading), (W·16 B, stride)), without swizzle leading and stride change places
uint32_t WgmmaOperand::piece(bool turned, int mn, int k) const {
  const auto row = static_cast<uint32_t>(swizzle), pieces = row / 16;
  const auto u = static_cast<uint32_t>(mn), t = static_cast<uint32_t>(k);
  uint32_t at = start;
  if (!turned) at += u % 8 * row + u / 8 * stride + t / 8 * (pieces == 1 ? leading : 16);
  else if (pieces == 1) at += u / 8 * stride + t % 8 * 16 + t / 8 * leading;
  else at += u / 8 % pieces * 16 + u / (8 * pieces) * leading + t % 8 * row + t / 8 * stride;
  return at ^ ((at >> 7 & (pieces - 1)) << 4);
}

void TensorCores::begin(uint64_t threads, unsigned sharedBytes) {
  warps_.clear();
  warps_.resize((threads + 31) / 32);
  groups_.assign((threads + 127) / 128, {});
  written_.assign(sharedBytes / 16 + 1, Written{0, 0});
  fences_.assign(threads, 0);
}

void TensorCores::copied(unsigned thread, uint64_t at, int bytes) {
  for (int i = 0; i < bytes; i += 16)
    if ((at + static_cast<uint64_t>(i)) / 16 < written_.size()) written_[(at + static_cast<uint64_t>(i)) / 16] = Written{thread + 1, fences_[thread]};
}

// gather reads rows or columns first … of an operand, 16 terms of each.
void TensorCores::gather(const WgmmaOperand& d, bool turned, int first, int count, std::vector<uint16_t>* to) {
  Worker* w = Worker::here();
  to->resize(static_cast<size_t>(count) * terms);
  for (int mn = 0; mn < count; mn += turned ? 8 : 1) {
    for (int k = 0; k < terms; k += turned ? 1 : 8) {
      const uint32_t at = d.piece(turned, first + mn, k);
      if (at + 16 > w->work()->sharedBytes) w->fail(700, "wgmma reads at " + std::to_string(at) + ", behind the dynamic shared memory of the launch");
      const Written& by = written_[at / 16];
      if (by.thread && fences_[by.thread - 1] == by.fences)
        w->fail(launchRace, "wgmma reads byte " + std::to_string(at) + " of dynamic shared memory, which thread " + std::to_string(by.thread - 1) +
                                " copied without a fence.proxy.async since");
      const unsigned char* p = w->current().dynamicShared + at;
      checkRead(p, 16);
      uint16_t halves[8];
      std::memcpy(halves, p, sizeof halves);
      for (int i = 0; i < 8; i++) (*to)[static_cast<size_t>(turned ? (mn + i) * terms + k : mn * terms + k + i)] = halves[i];
    }
  }
}

// operands reads what a warp multiplies: its 16 rows of the warpgroup's 64, and all columns.
void TensorCores::operands(unsigned thread, const Wgmma& w, std::vector<uint16_t>* a, std::vector<uint16_t>* b) {
  gather(WgmmaOperand(w.a), w.turnA, static_cast<int>(thread / 32 % 4) * warpRows, warpRows, a);
  gather(WgmmaOperand(w.b), w.turnB, 0, w.n, b);
}

// place is the element of the warp's 16 rows that a lane's register i holds (PTX ISA, "Matrix Fragments for wgmma.mma_async.m64nNk16").
static size_t place(int lane, int i, int n) {
  return static_cast<size_t>((lane / 4 + i / 2 % 2 * 8) * n + i / 4 * 8 + lane % 4 * 2 + i % 2);
}

// sumsOf takes the warp's registers, or finds those that products are under way for.
WgmmaSums* TensorCores::sumsOf(Warp& warp, void** lanes) {
  const auto& first = *static_cast<const Wgmma*>(lanes[0]);
  const int each = first.n / 2;
  std::vector<float*> registers;
  for (int l = 0; l < lanesOfWarp; l++) {
    const auto* w = static_cast<const Wgmma*>(lanes[l]);
    registers.insert(registers.end(), w->d, w->d + each);
  }
  for (auto& s : warp.sums) {
    if (s->registers == registers) {
      if (!first.add) trap("wgmma begins sums anew while products for them are under way, which the emulator does not know");
      return s.get();
    }
    if (std::find(s->registers.begin(), s->registers.end(), registers[0]) != s->registers.end())
      trap("wgmma of another shape on registers that products are under way for");
  }
  if (!warp.fenced) trap("wgmma without a wgmma.fence between other uses of its registers and it");
  warp.sums.push_back(std::make_unique<WgmmaSums>());
  WgmmaSums* s = warp.sums.back().get();
  s->values.resize(static_cast<size_t>(warpRows * first.n));
  for (int l = 0; l < lanesOfWarp; l++) {
    for (int i = 0; i < each; i++) {
      float* r = registers[static_cast<size_t>(l * each + i)];
      s->values[place(l, i, first.n)] = first.add ? *r : 0;
      std::memset(r, 0xff, sizeof *r);  // NaN until the wait
    }
  }
  s->registers = std::move(registers);
  return s;
}

void TensorCores::issue(unsigned thread, void** lanes) {
  Warp& warp = warps_[thread / 32];
  const auto& first = *static_cast<const Wgmma*>(lanes[0]);
  for (int l = 1; l < lanesOfWarp; l++) {
    const auto& w = *static_cast<const Wgmma*>(lanes[l]);
    if (w.a != first.a || w.b != first.b || w.n != first.n || w.add != first.add) trap("lanes of a warp give wgmma different operands");
  }
  if (fences_.size() < (thread / 128 + 1) * 128) trap("wgmma in a warpgroup of less than 128 threads");
  if (first.n < 8 || first.n > 256 || first.n % 8) trap("wgmma of a number of columns that there is not");
  auto& group = groups_[thread / 128];
  const size_t i = warp.issued++;
  if (i == group.size()) group.push_back(Issued{first.a, first.b, first.n});
  else if (group[i].a != first.a || group[i].b != first.b || group[i].n != first.n) trap("the warps of a warpgroup give wgmma different operands");
  warp.open.push_back(WgmmaProduct{first, sumsOf(warp, lanes), {}, {}});
  WgmmaProduct& p = warp.open.back();
  p.sums->products++;
  operands(thread, p.what, &p.a, &p.b);
}

void TensorCores::commit(unsigned thread) {
  Warp& warp = warps_[thread / 32];
  warp.groups.push_back(std::move(warp.open));
  warp.open.clear();
}

void TensorCores::wait(unsigned thread, int keep) {
  Warp& warp = warps_[thread / 32];
  while (warp.groups.size() > static_cast<size_t>(keep)) {
    for (WgmmaProduct& p : warp.groups.front()) finish(thread, warp, p);
    warp.groups.erase(warp.groups.begin());
  }
}

// finish adds a product to its sums, and writes those to the registers if it is the last of them.
void TensorCores::finish(unsigned thread, Warp& warp, WgmmaProduct& p) {
  std::vector<uint16_t> a, b;
  operands(thread, p.what, &a, &b);
  if (a != p.a || b != p.b) Worker::here()->fail(launchRace, "shared memory was written to while a wgmma that reads it was under way");
  const int n = p.what.n;
  std::vector<float> columns(b.size());  // term by term
  for (int column = 0; column < n; column++)
    for (int k = 0; k < terms; k++) columns[static_cast<size_t>(k * n + column)] = p.what.wide(b[static_cast<size_t>(column * terms + k)]);
  for (int row = 0; row < warpRows; row++) {
    float* sum = p.sums->values.data() + row * n;
    for (int k = 0; k < terms; k++) {
      const float by = p.what.wide(a[static_cast<size_t>(row * terms + k)]), *from = columns.data() + k * n;
      for (int column = 0; column < n; column++) sum[column] += by * from[column];
    }
  }
  if (--p.sums->products > 0) return;
  for (int l = 0; l < lanesOfWarp; l++)
    for (int i = 0; i < n / 2; i++) *p.sums->registers[static_cast<size_t>(l * (n / 2) + i)] = p.sums->values[place(l, i, n)];
  warp.sums.erase(std::find_if(warp.sums.begin(), warp.sums.end(), [&](auto& s) { return s.get() == p.sums; }));
  warp.fenced = false;  // the registers may be used now
}

void TensorCores::ended() {
  for (size_t w = 0; w < warps_.size(); w++)
    if (warps_[w].issued != groups_[w / 4].size()) trap("wgmma without all warps of the warpgroup");
}

// The lanes of a warp do these together; all must come.
namespace {

void all(unsigned members) {
  if (members != 0xffffffffu) trap("a wgmma instruction without all lanes of the warp");
}
TensorCores& cores() { return Worker::here()->tensorCores(); }
unsigned thread() { return Worker::here()->fiber()->thread; }

void fenceStep(void**, unsigned members) { all(members), cores().fence(thread()); }
void issueStep(void** lanes, unsigned members) { all(members), cores().issue(thread(), lanes); }
void commitStep(void**, unsigned members) { all(members), cores().commit(thread()); }
void waitStep(void** lanes, unsigned members) { all(members), cores().wait(thread(), *static_cast<int*>(lanes[0])); }

}  // namespace

void wgmmaFence() { warp(0xffffffffu, nullptr, fenceStep, false); }
void wgmma(const Wgmma& w) { warp(0xffffffffu, const_cast<Wgmma*>(&w), issueStep, false); }
void wgmmaCommit() { warp(0xffffffffu, nullptr, commitStep, false); }
void wgmmaWait(int keep) { warp(0xffffffffu, &keep, waitStep, false); }
void proxyFence() { cores().fenced(thread()); }

}  // namespace emu
