// signals.cpp: see signals.h.
#include "signals.h"

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>

#include "block.h"

namespace emu {

static const int caught[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
static struct sigaction earlier[65];

// The threads that run kernels. Only on these does the handler look at thread-local variables, which other threads may not have yet.
static std::atomic<pid_t> mine[128];
static std::atomic<int> mineCount{0};

static bool isMine() {
  pid_t self = static_cast<pid_t>(syscall(SYS_gettid));
  for (int i = 0; i < mineCount; i++)
    if (mine[i] == self) return true;
  return false;
}

static void handler(int sig, siginfo_t* info, void* context) {
  Worker* w = isMine() ? Worker::here() : nullptr;
  if (w) {
    w->signal = sig;
    w->signalAddress = reinterpret_cast<uint64_t>(info->si_addr);
    siglongjmp(*w->escape(), 1);
  }
  const struct sigaction& old = earlier[sig];
  if (old.sa_flags & SA_SIGINFO) {
    old.sa_sigaction(sig, info, context);
  } else if (old.sa_handler == SIG_DFL || old.sa_handler == SIG_IGN) {
    sigaction(sig, &old, nullptr);  // comes again, and ends the program
  } else {
    old.sa_handler(sig);
  }
}

void handleSignals() {
  struct sigaction mine = {};
  mine.sa_sigaction = handler;
  // On the handler's stack, as Go demands; not masked, as the handler is left by a jump.
  mine.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  for (int sig : caught) sigaction(sig, &mine, &earlier[sig]);
}

void withSignalsBlocked(const std::function<void()>& fn) {
  sigset_t all, before;
  sigfillset(&all);
  for (int sig : caught) sigdelset(&all, sig);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  fn();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void joinKernels() {
  int i = mineCount;
  if (i < 128) {
    mine[i] = static_cast<pid_t>(syscall(SYS_gettid));
    mineCount = i + 1;
  }
  constexpr size_t size = 64 << 10;
  void* p = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) return;
  stack_t s = {};
  s.ss_sp = p;
  s.ss_size = size;
  sigaltstack(&s, nullptr);
}

}  // namespace emu
