// A stand-in for libamdhip64.so, so that the real hip-python and our launch code run on a machine without a GPU. It has
// the calls that kernels/hip_device.py makes; modules are libraries of emulated kernels and run on the block emulator.
//
// STANDIN_FAIL=call:status makes one call return that status, STANDIN_VERSION is the runtime's version. ARCH_OFFSET is where the device properties hold the name
// of the instruction set; the test measures it from hip-python's own structure.
#include <dlfcn.h>
#include <elf.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

constexpr int SUCCESS = 0, INVALID_VALUE = 1, INVALID_DEVICE = 101, INVALID_IMAGE = 200, NOT_FOUND = 500;
constexpr int LAUNCH_FAILURE = 719;

struct Launch {
    uint32_t grid[3], threads, seed;
    char error[256];
};
using Entry = void (*)(Launch*, const void*);

bool failed_launch = false;

int injected(const char* call) {
    const char* wanted = std::getenv("STANDIN_FAIL");
    const size_t length = std::strlen(call);
    if (!wanted || std::strncmp(wanted, call, length) != 0 || wanted[length] != ':') return SUCCESS;
    return std::atoi(wanted + length + 1);
}

// Kernel libraries look for the emulator's functions in this library, which the loader keeps to hip-python.
__attribute__((constructor)) void publish() {
    Dl_info self;
    if (dladdr(reinterpret_cast<void*>(&publish), &self)) dlopen(self.dli_fname, RTLD_NOW | RTLD_GLOBAL | RTLD_NOLOAD);
}

size_t elf_size(const void* image) {
    const auto* header = static_cast<const Elf64_Ehdr*>(image);
    if (std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return 0;
    return header->e_shoff + (size_t)header->e_shnum * header->e_shentsize;
}

}  // namespace

#define INJECT \
    if (const int status = injected(__func__)) return status

extern "C" {

int hipRuntimeGetVersion(int* version) {
    const char* wanted = std::getenv("STANDIN_VERSION");
    *version = wanted ? std::atoi(wanted) : 70243211;
    INJECT;
    return SUCCESS;
}

int hipGetDeviceCount(int* count) {
    *count = 1;
    INJECT;
    return SUCCESS;
}

int hipGetDevicePropertiesR0600(char* properties, int device) {
    INJECT;
    if (device != 0) return INVALID_DEVICE;
    std::strcpy(properties, "Stand-in");
    std::strcpy(properties + ARCH_OFFSET, "gfx1151:xnack-");
    return SUCCESS;
}

int hipSetDevice(int device) {
    INJECT;
    return device == 0 ? SUCCESS : INVALID_DEVICE;
}

int hipModuleLoadData(void** module, const void* image) {
    INJECT;
    const size_t size = elf_size(image);
    if (size == 0) return INVALID_IMAGE;
    char path[] = "/tmp/standin-XXXXXX";
    const int file = mkstemp(path);
    if (file < 0 || write(file, image, size) != (ssize_t)size) return INVALID_IMAGE;
    close(file);
    *module = dlopen(path, RTLD_NOW);
    if (!*module) std::fprintf(stderr, "stand-in: %s\n", dlerror());
    unlink(path);
    return *module ? SUCCESS : INVALID_IMAGE;
}

int hipModuleGetFunction(void** function, void* module, const char* name) {
    INJECT;
    *function = dlsym(module, (std::string("emulated_") + name).c_str());
    return *function ? SUCCESS : NOT_FOUND;
}

int hipModuleLaunchKernel(void* function, unsigned x, unsigned y, unsigned z, unsigned threads, unsigned threads_y,
                          unsigned threads_z, unsigned shared_bytes, void* stream, void** parameters, void** extra) {
    INJECT;
    const bool packed = !parameters && extra && extra[0] == (void*)1 && extra[2] == (void*)2 && extra[4] == (void*)3;
    if (!packed || threads_y != 1 || threads_z != 1 || shared_bytes != 0 || stream) return INVALID_VALUE;
    Launch launch{{x, y, z}, threads, 0, {}};
    reinterpret_cast<Entry>(function)(&launch, extra[1]);
    failed_launch = launch.error[0] != 0;
    return SUCCESS;  // as on a device, a fault in the kernel shows at the next synchronisation
}

int hipDeviceSynchronize() {
    INJECT;
    return failed_launch ? LAUNCH_FAILURE : SUCCESS;
}
}
