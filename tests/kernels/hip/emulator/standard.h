// What the emulator takes of the standard library; in a header of its own so that it is parsed once for all kernels.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <tuple>
#include <utility>
