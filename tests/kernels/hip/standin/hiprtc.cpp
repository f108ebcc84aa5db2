// A stand-in for libhiprtc.so: programs are built with g++ for the block emulator. STANDIN_INCLUDE is the emulator's
// folder. An option other than those of kernels/hiprtc_builder.py is refused, as hiprtc refuses what it does not know.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>

namespace {

constexpr int SUCCESS = 0, COMPILATION = 6;

struct Program {
    std::string source, log, code;
};

std::string contents(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

}  // namespace

extern "C" {

int hiprtcVersion(int* major, int* minor) {
    *major = 9, *minor = 0;
    return SUCCESS;
}

int hiprtcCreateProgram(void** program, const char* source, const char*, int, const char* const*, const char* const*) {
    *program = new Program{source, "", ""};
    return SUCCESS;
}

int hiprtcDestroyProgram(void** program) {
    delete static_cast<Program*>(*program);
    *program = nullptr;
    return SUCCESS;
}

int hiprtcCompileProgram(void* handle, int count, const char* const* options) {
    Program& program = *static_cast<Program*>(handle);
    std::string flags;
    for (int i = 0; i < count; ++i) {
        if (!std::strncmp(options[i], "--offload-arch=gfx", 18)) continue;
        if (options[i][0] != '-') return COMPILATION;
        flags += std::string(" ") + options[i];
    }
    char folder[] = "/tmp/standin-rtc-XXXXXX";
    if (!mkdtemp(folder)) return COMPILATION;
    const std::string base = folder;
    std::ofstream(base + "/kernel.cpp") << program.source;
    const std::string command = "g++ -shared -fPIC -Wno-unknown-pragmas -DHALOBAND_EMULATOR -I" +
                                std::string(std::getenv("STANDIN_INCLUDE")) + flags + " " + base + "/kernel.cpp -o " +
                                base + "/kernel.so > " + base + "/log 2>&1";
    const int status = std::system(command.c_str());
    program.log = contents(base + "/log");
    program.code = contents(base + "/kernel.so");
    std::system(("rm -r " + base).c_str());
    return status == 0 ? SUCCESS : COMPILATION;
}

int hiprtcGetProgramLogSize(void* program, size_t* size) {
    *size = static_cast<Program*>(program)->log.size() + 1;
    return SUCCESS;
}
int hiprtcGetProgramLog(void* program, char* log) {
    const std::string& text = static_cast<Program*>(program)->log;
    std::memcpy(log, text.c_str(), text.size() + 1);
    return SUCCESS;
}
int hiprtcGetCodeSize(void* program, size_t* size) {
    *size = static_cast<Program*>(program)->code.size();
    return SUCCESS;
}
int hiprtcGetCode(void* program, char* code) {
    const std::string& bytes = static_cast<Program*>(program)->code;
    std::memcpy(code, bytes.data(), bytes.size());
    return SUCCESS;
}
}
