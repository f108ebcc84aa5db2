"""What this computer's processor and memory offer, read from the kernel without further libraries. Any thread."""

from pathlib import Path

PROC = Path("/proc")


def available_bytes(proc: Path = PROC) -> int | None:
    """Memory that can be taken without swapping (MemAvailable); None where the kernel does not say."""
    try:
        lines = (proc / "meminfo").read_text().splitlines()
        fields = dict(line.split(":", 1) for line in lines if ":" in line)
        return int(fields["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError, ValueError, IndexError):
        return None


def peak_resident_bytes(proc: Path = PROC) -> int | None:
    """The most memory this process ever had resident (VmHWM); None where the kernel does not say."""
    try:
        lines = (proc / "self" / "status").read_text().splitlines()
        fields = dict(line.split(":", 1) for line in lines if ":" in line)
        return int(fields["VmHWM"].split()[0]) * 1024
    except (OSError, KeyError, ValueError, IndexError):
        return None


def has_bf16_products(proc: Path = PROC) -> bool:
    """Whether the processor multiplies bfloat16 in hardware (AVX512-BF16 or AMX); elsewhere float32 is faster."""
    try:
        return bool({"avx512_bf16", "amx_bf16"} & set((proc / "cpuinfo").read_text().split()))
    except OSError:
        return False
