// A fixed-size pool of worker threads that all kernels share. The caller is worker 0; the others sleep between jobs.
//
// A job is complete only when every worker has acknowledged that job's generation, workers without rows included: a
// worker that had read an old generation could otherwise run the old task on the next job's data. Between jobs a worker
// spins briefly and then waits in the kernel, so an idle pool costs nothing. run() may be called from any thread; jobs
// queue behind each other. After fork() the child starts its own workers at its first job.
#pragma once

#include <atomic>
#include <cstdint>

// Marks a function of the C interface: everything else is hidden.
#define HB_EXPORT extern "C" __attribute__((visibility("default")))

namespace haloband {

// Every worker calls task(context, worker, workers) once a job, with worker in [0, workers).
using Task = void (*)(void* context, int worker, int workers);

class Pool {
 public:
  explicit Pool(int threads);  // threads >= 1, the caller included
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  int threads() const { return threads_; }
  void run(Task task, void* context) { run_awaiting(threads_, task, context); }

  // For the test of the completion protocol only (tests/kernels/cpu/test_pool.py): a delay between reading the
  // generation and running the task, and a run() that wrongly waits for the first `awaited` workers only.
  void set_stall(int64_t microseconds) { stall_microseconds_ = microseconds; }
  void run_awaiting(int awaited, Task task, void* context);

  // Runs body(worker, workers) on every worker; body may use a Barrier of threads() parties.
  template <typename Body>
  void each_worker(Body&& body) {
    run([](void* context, int worker, int workers) { (*static_cast<Body*>(context))(worker, workers); }, &body);
  }

  // Calls body(index, worker) for every index in [0, count), handed out in order as workers become free. For work
  // whose result does not depend on which worker does it.
  template <typename Body>
  void each_index(int64_t count, Body&& body) {
    if (threads_ == 1 || count <= 1) {
      for (int64_t index = 0; index < count; ++index) body(index, 0);
      return;
    }
    std::atomic<int64_t> next{0};
    each_worker([&](int worker, int) {
      for (int64_t index; (index = next.fetch_add(1, std::memory_order_relaxed)) < count;) body(index, worker);
    });
  }

 private:
  struct Workers;
  void restart_after_fork();
  const int threads_;
  std::atomic<int64_t> stall_microseconds_{0};
  std::atomic<Workers*> workers_;
};

// A meeting point for the workers inside one job. wait() returns once `parties` workers have called it; it spins, and
// yields the processor when the others are late. Writes before wait() are seen by every worker after it.
class Barrier {
 public:
  explicit Barrier(int parties) : parties_(parties) {}
  void wait();

 private:
  const int parties_;
  std::atomic<int> arrived_{0};
  std::atomic<uint32_t> phase_{0};
};

}  // namespace haloband
