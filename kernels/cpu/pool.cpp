#include "pool.h"

#include <pthread.h>

#include <chrono>
#include <memory>
#include <mutex>
#include <new>
#include <thread>
#include <vector>

#if defined(__linux__)
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace haloband {
namespace {

constexpr int kSpins = 2000;  // some tens of microseconds: longer than the gap between kernels of one layer

inline void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  std::this_thread::yield();
#endif
}

// Sleeps while `word` holds `seen`; may wake early.
void wait_while(std::atomic<uint32_t>& word, uint32_t seen) {
#if defined(__linux__)
  syscall(SYS_futex, reinterpret_cast<uint32_t*>(&word), FUTEX_WAIT_PRIVATE, seen, nullptr, nullptr, 0);
#else
  (void)word, (void)seen;
  std::this_thread::sleep_for(std::chrono::microseconds(50));
#endif
}
void wake_all(std::atomic<uint32_t>& word) {
#if defined(__linux__)
  syscall(SYS_futex, reinterpret_cast<uint32_t*>(&word), FUTEX_WAKE_PRIVATE, INT32_MAX, nullptr, nullptr, 0);
#else
  (void)word;
#endif
}

// Returns the value of `word` once it differs from `seen`.
uint32_t await_change(std::atomic<uint32_t>& word, uint32_t seen) {
  for (int spin = 0; spin < kSpins; ++spin) {
    const uint32_t now = word.load(std::memory_order_acquire);
    if (now != seen) return now;
    pause();
  }
  for (;;) {
    const uint32_t now = word.load(std::memory_order_acquire);
    if (now != seen) return now;
    wait_while(word, seen);
  }
}

std::atomic<uint32_t> forks{0};  // how many fork() calls lie between this process and the one that loaded the library

void count_fork() { forks.fetch_add(1, std::memory_order_relaxed); }

void watch_forks() {
  static const int registered = pthread_atfork(nullptr, nullptr, count_fork);
  (void)registered;
}

struct alignas(64) Word {
  std::atomic<uint32_t> value{0};
};

}  // namespace

struct Pool::Workers {
  Workers(int threads, const std::atomic<int64_t>& stall)
      : stall_microseconds(stall), born(forks.load(std::memory_order_relaxed)), acknowledged(threads) {
    others.reserve(threads - 1);
    try {
      for (int worker = 1; worker < threads; ++worker) others.emplace_back([=] { serve(worker, threads); });
    } catch (...) {
      stop();
      throw;
    }
  }

  void serve(int worker, int workers) {
    uint32_t seen = 0;
    for (;;) {
      seen = await_change(generation.value, seen);
      if (stopping) return;
      const Task current = task;
      const int64_t stall = stall_microseconds.load(std::memory_order_relaxed);
      if (stall) std::this_thread::sleep_for(std::chrono::microseconds(stall));
      current(context, worker, workers);
      acknowledged[worker].value.store(seen, std::memory_order_release);
      wake_all(acknowledged[worker].value);
    }
  }

  void run(int awaited, Task job, void* job_context, int threads) {
    const std::lock_guard<std::mutex> one_job(queue);
    task = job;
    context = job_context;
    const uint32_t mine = generation.value.load(std::memory_order_relaxed) + 1;
    generation.value.store(mine, std::memory_order_release);
    wake_all(generation.value);
    job(job_context, 0, threads);
    for (int worker = 1; worker < awaited; ++worker) await_acknowledgement(worker, mine);
  }

  void await_acknowledgement(int worker, uint32_t mine) {
    std::atomic<uint32_t>& word = acknowledged[worker].value;
    for (uint32_t now = word.load(std::memory_order_acquire); now != mine;) now = await_change(word, now);
  }

  void stop() {
    stopping = true;
    generation.value.fetch_add(1, std::memory_order_release);
    wake_all(generation.value);
    for (std::thread& other : others) other.join();
  }

  const std::atomic<int64_t>& stall_microseconds;
  const uint32_t born;
  std::mutex queue;
  Task task = nullptr;
  void* context = nullptr;
  bool stopping = false;  // written before the generation that announces it
  Word generation;
  std::vector<Word> acknowledged;
  std::vector<std::thread> others;
};

Pool::Pool(int threads) : threads_(threads), workers_(nullptr) {
  watch_forks();
  workers_.store(new Workers(threads, stall_microseconds_));
}

Pool::~Pool() {
  Workers* workers = workers_.load();
  // In a forked child the threads do not exist: joining would wait for ever, so the record is left behind.
  if (workers->born != forks.load(std::memory_order_relaxed)) return;
  workers->stop();
  delete workers;
}

void Pool::restart_after_fork() {
  static std::mutex restarting;  // only one thread exists right after fork(), before anything in the child uses this
  const std::lock_guard<std::mutex> once(restarting);
  Workers* workers = workers_.load();
  if (workers->born != forks.load(std::memory_order_relaxed)) workers_.store(new Workers(threads_, stall_microseconds_));
}

void Pool::run_awaiting(int awaited, Task task, void* context) {
  if (threads_ == 1) {
    task(context, 0, 1);
    return;
  }
  if (workers_.load()->born != forks.load(std::memory_order_relaxed)) restart_after_fork();
  workers_.load()->run(awaited, task, context, threads_);
}

void Barrier::wait() {
  const uint32_t phase = phase_.load(std::memory_order_acquire);
  if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == parties_) {
    arrived_.store(0, std::memory_order_relaxed);
    phase_.store(phase + 1, std::memory_order_release);
    return;
  }
  for (int spin = 0; phase_.load(std::memory_order_acquire) == phase; ++spin) {
    if (spin < kSpins) {
      pause();
    } else {
      std::this_thread::yield();
    }
  }
}

// --- the test of the protocol ----------------------------------------------------------------------------------

namespace {

// One job adds `amount` to the first `rows` cells, cut statically. `rows` is re-read as a task would re-read its job.
struct Race {
  std::atomic<int> rows{0};
  std::vector<std::atomic<int>> cells;
  explicit Race(int count) : cells(count) {}
  static void add(Race& race, int worker, int workers, int amount) {
    const int rows = race.rows.load();
    for (int row = worker * rows / workers; row < (worker + 1) * rows / workers; ++row) race.cells[row] += amount;
  }
  static void first_task(void* race, int worker, int workers) { add(*static_cast<Race*>(race), worker, workers, 1); }
  static void second_task(void* race, int worker, int workers) { add(*static_cast<Race*>(race), worker, workers, 100); }
};

}  // namespace

// A one-row job followed at once by a full one, `rounds` times; returns how many cells held a wrong value. With
// `early` the first job counts as complete once worker 0, the only one with a row, is done: the fault to be detected.
int64_t count_race_corruptions(Pool& pool, int rounds, bool early) {
  const int count = 64;
  int64_t wrong = 0;
  for (int round = 0; round < rounds; ++round) {
    Race race(count);
    race.rows = 1;
    pool.run_awaiting(early ? 1 : pool.threads(), Race::first_task, &race);
    race.rows = count;
    pool.run(Race::second_task, &race);
    for (int row = 0; row < count; ++row) wrong += race.cells[row].load() != (row == 0 ? 101 : 100);
  }
  return wrong;
}

}  // namespace haloband

using haloband::Pool;

HB_EXPORT void* hb_pool_create(int64_t threads) {
  try {
    return new Pool(static_cast<int>(threads));
  } catch (...) {  // no memory or no thread: the caller reports it
    return nullptr;
  }
}
HB_EXPORT void hb_pool_destroy(void* pool) { delete static_cast<Pool*>(pool); }
HB_EXPORT int64_t hb_pool_threads(void* pool) { return static_cast<Pool*>(pool)->threads(); }

HB_EXPORT void hb_pool_set_stall(void* pool, int64_t microseconds) { static_cast<Pool*>(pool)->set_stall(microseconds); }
HB_EXPORT int64_t hb_pool_race(void* pool, int64_t rounds, int64_t early) {
  return haloband::count_race_corruptions(*static_cast<Pool*>(pool), static_cast<int>(rounds), early != 0);
}
