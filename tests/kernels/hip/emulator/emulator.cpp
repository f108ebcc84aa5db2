// The scheduler of the CPU block emulator: runs one workgroup at a time, each thread on a fiber of its own.
//
// Waves are run in lockstep between meeting points: every lane runs until it meets its wave or its workgroup or ends.
// Lanes of one wave that stop at different places are divergent code around an exchange, which hangs or corrupts a GPU:
// that is reported as an error, as are a barrier that only some waves reach and an asynchronous copy that the hardware
// would refuse. One emulated launch at a time a process.
#include <algorithm>
#include <csetjmp>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <ucontext.h>
#include <vector>

#include "slot.h"

extern "C" {
uint32_t emulator_thread, emulator_group[3];
}

namespace {

constexpr uint32_t WAVE = 32;
constexpr size_t STACK_BYTES = 128 * 1024;
constexpr int STRAYED = -2, ENDED = -1, FRESH = 0, AT_BARRIER = 1000;

struct Launch {
    uint32_t grid[3], threads, seed;
    char error[256];
};

struct Memory {
    char *begin, *end;
};

struct Fiber {
    std::unique_ptr<char[]> stack{new char[STACK_BYTES]};
    jmp_buf state;
    ucontext_t entry;
    bool entered = false;
    int stop = FRESH;  // ENDED, AT_BARRIER, STRAYED (a copy went astray), or the kind of wave exchange it stands at
    uint8_t parity = 0;
    struct Copy {
        void* target;
        const void* source;
        uint32_t bytes;
        uint32_t group;
    };
    std::vector<Copy> copies;  // begun and not waited for
    uint32_t closed_groups = 0;
};

std::vector<std::unique_ptr<Fiber>> fibers;
std::vector<uint32_t> slots;  // [wave][parity][lane][SLOT_WORDS]
jmp_buf scheduler;
void (*body)(const void*);
const void* context;
Memory pool;  // the LDS that asynchronous copies may fill
std::mt19937 random_bits;

void leave(int stop) {
    Fiber& self = *fibers[emulator_thread];
    self.stop = stop;
    if (_setjmp(self.state) == 0) _longjmp(scheduler, 1);
}

void fiber_main() {
    for (;;) {
        body(context);
        leave(ENDED);
    }
}

// Runs one thread from where it stands to its next stop.
void resume(uint32_t thread) {
    Fiber& fiber = *fibers[thread];
    emulator_thread = thread;
    if (_setjmp(scheduler) != 0) return;
    if (fiber.entered) _longjmp(fiber.state, 1);
    fiber.entered = true;
    getcontext(&fiber.entry);
    fiber.entry.uc_stack.ss_sp = fiber.stack.get();
    fiber.entry.uc_stack.ss_size = STACK_BYTES;
    fiber.entry.uc_link = nullptr;
    makecontext(&fiber.entry, fiber_main, 0);
    setcontext(&fiber.entry);
}

// The order in which `count` lanes or waves run: ascending, descending, or shuffled anew at each call.
std::vector<uint32_t>& ordering(uint32_t count, uint32_t seed) {
    static std::vector<uint32_t> lanes, waves;
    std::vector<uint32_t>& order = count == WAVE ? lanes : waves;
    order.resize(count);
    std::iota(order.begin(), order.end(), 0u);
    if (seed == 1) std::reverse(order.begin(), order.end());
    if (seed > 1) std::shuffle(order.begin(), order.end(), random_bits);
    return order;
}

// Runs a wave until all of its lanes stand at the barrier or have ended; says which.
int run_wave(uint32_t wave, uint32_t seed) {
    for (;;) {
        for (uint32_t lane : ordering(WAVE, seed)) {
            resume(wave * WAVE + lane);
            if (fibers[wave * WAVE + lane]->stop == STRAYED)
                throw std::runtime_error("an asynchronous copy of thread " + std::to_string(wave * WAVE + lane) +
                                         " leaves the pool, or is not made of 16-byte pieces");
        }
        const int stop = fibers[wave * WAVE]->stop;
        for (uint32_t lane = 0; lane < WAVE; ++lane) {
            if (fibers[wave * WAVE + lane]->stop != stop) {
                throw std::runtime_error("wave " + std::to_string(wave) + ": lanes 0 and " + std::to_string(lane) +
                                         " stand at different exchanges (" + std::to_string(stop) + " and " +
                                         std::to_string(fibers[wave * WAVE + lane]->stop) + ")");
            }
        }
        if (stop == AT_BARRIER || stop == ENDED) return stop;
    }
}

void run_group(const Launch& launch) {
    const uint32_t waves = launch.threads / WAVE;
    for (uint32_t thread = 0; thread < launch.threads; ++thread) fibers[thread]->parity = 0;
    for (int stop = AT_BARRIER; stop == AT_BARRIER;) {
        bool first = true;
        const std::vector<uint32_t> order = ordering(waves, launch.seed);
        for (uint32_t wave : order) {
            const int now = run_wave(wave, launch.seed);
            if (!first && now != stop) throw std::runtime_error("only some waves reach a barrier");
            stop = now;
            first = false;
        }
    }
}

void poison(Memory memory) {  // NaN as F32 and F16, -1 as an integer
    if (memory.begin != memory.end) std::memset(memory.begin, 0xff, (size_t)(memory.end - memory.begin));
}

void run_grid(const Launch& launch, Memory lds) {
    if (launch.threads == 0 || launch.threads % WAVE != 0 || launch.threads > 1024) {
        throw std::runtime_error("a workgroup of " + std::to_string(launch.threads) + " threads");
    }
    while (fibers.size() < launch.threads) fibers.push_back(std::make_unique<Fiber>());
    slots.assign((size_t)launch.threads * 2 * SLOT_WORDS, 0xdeadbeefu);
    random_bits.seed(launch.seed);
    for (uint32_t z = 0; z < launch.grid[2]; ++z)
        for (uint32_t y = 0; y < launch.grid[1]; ++y)
            for (uint32_t x = 0; x < launch.grid[0]; ++x) {
                emulator_group[0] = x, emulator_group[1] = y, emulator_group[2] = z;
                poison(lds), poison(pool);
                run_group(launch);
            }
}

}  // namespace

extern "C" {

void emulator_meet_wave(int site) { leave(site); }
void emulator_meet_group() { leave(AT_BARRIER); }
void emulator_flip() { fibers[emulator_thread]->parity ^= 1; }

// The slot of `lane` in the running thread's wave, in the half that its current exchange uses. Halves alternate, so a
// fast lane's next exchange never overwrites what a slow lane has still to read.
uint32_t* emulator_slot(uint32_t lane) {
    const uint32_t wave = emulator_thread / WAVE, parity = fibers[emulator_thread]->parity;
    return &slots[((wave * 2 + parity) * WAVE + lane) * SLOT_WORDS];
}

void emulator_copy_later(void* target, const void* source, uint32_t bytes) {
    const char* piece = static_cast<const char*>(target);
    const bool is_inside = piece >= pool.begin && piece + 16 <= pool.end;
    if (!is_inside || (uintptr_t)target % 16 || (uintptr_t)source % 16 || bytes > 16) leave(STRAYED);
    Fiber& fiber = *fibers[emulator_thread];
    fiber.copies.push_back({target, source, bytes, fiber.closed_groups});
}
void emulator_close_group() { ++fibers[emulator_thread]->closed_groups; }
// Performs the copies of all closed groups but the `but_latest` last ones.
void emulator_copy_groups(uint32_t but_latest) {
    Fiber& fiber = *fibers[emulator_thread];
    auto later = fiber.copies.begin();
    for (; later != fiber.copies.end() && later->group + but_latest < fiber.closed_groups; ++later) {
        std::memset(later->target, 0, 16);
        std::memcpy(later->target, later->source, later->bytes);
    }
    fiber.copies.erase(fiber.copies.begin(), later);
}
void emulator_copy_now() {
    emulator_close_group();
    emulator_copy_groups(0);
}

void emulator_run(Launch* launch, void (*kernel)(const void*), const void* arguments, Memory lds, Memory lds_pool) {
    body = kernel;
    context = arguments;
    pool = lds_pool;
    launch->error[0] = 0;
    try {
        run_grid(*launch, lds);
    } catch (const std::runtime_error& failure) {
        std::snprintf(launch->error, sizeof launch->error, "%s", failure.what());
        fibers.clear();  // some stand in the middle of the kernel
    }
}
}
