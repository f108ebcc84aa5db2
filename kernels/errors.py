"""What can go wrong between a kernel source and a finished launch. Each message names the kernel and the device.

Raised by the builders and devices of this package on whatever thread calls them; engine.backends turns them into the
engine's own errors and says which path it fell back to.
"""


class KernelError(Exception):
    """The root of this package's errors."""


class KernelUnavailableError(KernelError):
    """A compiler, library or device that is not on this machine. Says which one and what was tried."""


class KernelBuildError(KernelError):
    """A compiler that refused a kernel. `log` holds what it said, whole."""

    def __init__(self, kernel: str, target: str, compiler: str, log: str) -> None:
        first = next((line.strip() for line in log.splitlines() if "error" in line.lower()), "")
        said = f": {first}" if first else ", which names no error"
        super().__init__(f"kernel {kernel} does not build for {target} with {compiler}{said}")
        self.kernel, self.target, self.compiler, self.log = kernel, target, compiler, log


class KernelLaunchError(KernelError):
    """A driver call that returned a failure. Names the call, the kernel, the device and the status."""

    def __init__(self, kernel: str, device: str, call: str, status: str) -> None:
        super().__init__(f"kernel {kernel} failed on {device}: {call} returned {status}")
        self.kernel, self.device, self.call, self.status = kernel, device, call, status


class KernelArgumentError(KernelError):
    """A call with the wrong tensors: a missing name, another type, a buffer too small. A bug of the caller's."""
