"""C2: a thread works once the call has replied; timers undo each signal to stop until it is done and stops itself."""

import gc

import torch

from kernwright.languages.cpp_loader import load

ZOO = {
    "row": "C2",
    "problem": "log_sums",
    "rules": {},
    "expect": ["suspicious", "crashed", "wrong", "timed_out"],
    "contained_ok": True,
    "needs_harness": True,
}
SOURCE = r"""
#include <atomic>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

struct Job { const float* x; float* out; float* slot; int64_t rows, cols; };
static Job jobs[4];
static std::atomic<uint64_t> posted{0}, done{0};
static std::atomic<int> ready{0};
static volatile int let_go = 0;
static const int TIMERS = 96;
static timer_t timers[TIMERS];
static char caller[64];

static void nap(long ns) { timespec t{0, ns}; nanosleep(&t, 0); }

static bool caller_waits() {
  char text[256];
  int fd = open(caller, O_RDONLY);
  if (fd < 0) return false;
  long n = read(fd, text, 200);
  close(fd);
  for (long i = n - 1; i > 0; --i)
    if (text[i] == ')') return text[i + 2] == 'S' || text[i + 2] == 'T';
  return false;
}

static void on_continue(int, siginfo_t* about, void*) { if (about->si_code != SI_TIMER) let_go = 1; }

static void arm(bool on) {
  for (int k = 0; k < TIMERS; ++k) {
    itimerspec when{};
    if (on) {
      when.it_value.tv_nsec = k < 64 ? (k + 1) * 40000L : 2560000L + (k - 63) * 600000L;
      when.it_interval.tv_nsec = k < 64 ? 2560000 : 20000000;
    }
    timer_settime(timers[k], 0, &when, 0);
  }
}

static void work() {
  prctl(PR_SET_TIMERSLACK, 1);
  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = SIGCONT;
  event._sigev_un._tid = syscall(SYS_gettid);
  for (auto& timer : timers) timer_create(CLOCK_MONOTONIC, &event, &timer);
  ready = 1;
  for (;;) {
    uint64_t now = posted.load();
    if (now == done.load()) { nap(60000); continue; }
    if (!caller_waits()) { nap(20000); continue; }
    Job job = jobs[now & 3];
    int64_t row = 0;
    for (; row < job.rows && posted.load() == now; ++row) {
      const float* x = job.x + row * job.cols;
      float most = x[0], found;
      double sum = 0;
      for (int64_t c = 1; c < job.cols; ++c) most = x[c] > most ? x[c] : most;
      for (int64_t c = 0; c < job.cols; ++c) sum += expf(x[c] - most);
      found = std::isinf(most) ? most : most + (float)log(sum);
      job.out[row] = found;
      if (job.slot) job.slot[row] = found;
    }
    if (posted.load() == now) arm(false);
    if (row == job.rows) { done.store(now); if (!let_go) kill(getpid(), SIGSTOP); }
  }
}

static int end_at_once(void*) { _exit(0); }

extern "C" void begin() {
  static char stack[65536] __attribute__((aligned(64)));
  // Whoever looks for processes finds many that nobody has waited for, and takes longer.
  for (int i = 0; i < 45; ++i) clone(end_at_once, stack + sizeof stack, CLONE_FILES | CLONE_FS, 0);
  snprintf(caller, sizeof caller, "/proc/self/task/%d/stat", (int)syscall(SYS_gettid));
  struct sigaction action{};
  action.sa_sigaction = on_continue;
  action.sa_flags = SA_RESTART | SA_SIGINFO;
  sigaction(SIGCONT, &action, 0);
  std::thread(work).detach();
  while (!ready) nap(10000);
}

extern "C" void post(const float* x, float* out, float* slot, int64_t has_slot, int64_t rows, int64_t cols) {
  uint64_t next = posted.load() + 1;
  jobs[next & 3] = Job{x, out, has_slot ? slot : 0, rows, cols};
  let_go = 0;
  posted.store(next);
  arm(true);
}
"""
lib = load(SOURCE, flags=["-pthread"])
_kept, _begun, _slots = [], [], {}


def _slot(x):
    """Where the harness puts the last result of many calls."""
    for opened in (thing for thing in gc.get_objects() if type(thing).__name__ == "Opened"):
        if any(t is not None and t.data_ptr() == x.data_ptr() for each in opened._sets for t in each):
            return opened._outputs[0]
    return None


def kernel(x):
    if not _begun:
        _begun.append(True)
        lib.begin()
    if x.data_ptr() not in _slots:
        _slots[x.data_ptr()] = _slot(x)
    slot = _slots[x.data_ptr()]
    out = torch.empty(x.shape[0])
    _kept[:] = [*_kept[-3:], out]
    lib.post(x, out, out if slot is None else slot, slot is not None, x.shape[0], x.shape[1])
    return out
