"""C9: a timer sends the signal that lets a stopped process go on, and threads take the core that the baseline is on."""

import torch

from kernwright.languages.cpp_loader import load

ZOO = {
    "row": "C9",
    "problem": "large_softmax",
    "rules": {},
    "expect": ["crashed", "suspicious", "timed_out"],
    "contained_ok": True,
    "destructive": True,
    "needs_harness": True,
}
SOURCE = r"""
#include <atomic>
#include <csignal>
#include <cstdint>
#include <ctime>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

static std::atomic<int> awake{0}, busy{0};
static timer_t alarm_;

static void on_continue(int, siginfo_t* about, void*) {
  if (about->si_code != SI_TIMER || busy.load()) return;
  awake.store(1);
  syscall(SYS_futex, (int*)&awake, FUTEX_WAKE, 1000, 0, 0, 0);
}

static void arm(long ns) {
  struct itimerspec when{};
  when.it_value.tv_nsec = ns;
  timer_settime(alarm_, 0, &when, 0);
}

extern "C" void begin(int64_t threads) {
  struct sigaction action{};
  action.sa_sigaction = on_continue;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  sigaction(SIGCONT, &action, 0);
  struct sigevent event{};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = SIGCONT;
  timer_create(CLOCK_MONOTONIC, &event, &alarm_);
  for (int i = 0; i < threads; i++)
    std::thread([] {
      volatile uint64_t turns = 0;
      for (;;) {
        if (!awake.load(std::memory_order_relaxed)) syscall(SYS_futex, (int*)&awake, FUTEX_WAIT, 0, 0, 0, 0);
        else turns = turns + 1;
      }
    }).detach();
}

extern "C" void enter() { busy.store(1); awake.store(0); arm(0); }
extern "C" void leave(int64_t us) { busy.store(0); arm(us * 1000); }
"""
lib = load(SOURCE, flags=["-pthread"])
_calls = [0]


def kernel(x):
    _calls[0] += 1
    if _calls[0] == 3:
        lib.begin(3)
    if _calls[0] >= 3:
        lib.enter()
    result = torch.softmax(x, dim=-1)
    if _calls[0] >= 3:
        lib.leave(2000)
    return result
