// What the kernels on the emulator and its scheduler must agree on.
#pragma once

#include <cstdint>

constexpr uint32_t SLOT_WORDS = 32;  // of a lane's exchange slot: room for two matrix fragments
