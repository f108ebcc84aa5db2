// Which processor features the running machine and its operating system offer. Every variant exports it; it is asked
// through the baseline variant before a faster one is opened. __builtin_cpu_supports also checks that the operating
// system saves the wide registers.
#include <cstdint>
#include <cstring>

#include "pool.h"

#define HB_FEATURE(text) \
  if (std::strcmp(name, text) == 0) return __builtin_cpu_supports(text) != 0

// 1 if the named feature is present, 0 if not, -1 for a name this build does not know.
HB_EXPORT int64_t hb_cpu_has(const char* name) {
#if defined(__x86_64__)
  __builtin_cpu_init();
  HB_FEATURE("avx2");
  HB_FEATURE("fma");
  HB_FEATURE("f16c");
  HB_FEATURE("bmi2");
  HB_FEATURE("avx512f");
  HB_FEATURE("avx512bw");
  HB_FEATURE("avx512dq");
  HB_FEATURE("avx512vl");
  HB_FEATURE("avx512cd");
  HB_FEATURE("avx512bf16");
  HB_FEATURE("avx512vnni");
#endif
  (void)name;
  return -1;
}
