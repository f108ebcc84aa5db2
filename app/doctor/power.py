"""Does the machine hold itself back? Power profile, processor governor, battery."""

from collections.abc import Iterator

from app.doctor.finding import Finding, Severity, Topic
from app.doctor.hardware import Hardware
from app.doctor.host import Host

_SLOW = ("low-power", "power-saver", "quiet", "cool")
_FAST = ("performance", "balanced-performance", "max-power")


def check_power(host: Host, hardware: Hardware) -> Iterator[Finding]:
    """The platform's profile where it has one, else the processor's governor; and whether it runs on a battery."""
    profile = host.text("sys/firmware/acpi/platform_profile")
    governor = host.text("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
    yield _profile(host, profile, governor)
    supplies = [
        value for path in host.glob("sys/class/power_supply/*/online") if (value := host.number(path)) is not None
    ]
    if supplies and not any(supplies):
        yield Finding(
            "battery",
            Topic.SPEED,
            "Power supply",
            Severity.WARNING,
            "on battery",
            "plugged in",
            "Plug it in: on battery the processor and GPU are held far below their speed.",
        )


def _profile(host: Host, profile: str | None, governor: str | None) -> Finding:
    title, wanted = "Power profile", "performance"
    facts = {"profile": profile, "governor": governor}
    if profile and governor:
        found = f"{profile}, processor governor {governor}"
    else:
        found = f"processor governor {governor}" if governor else profile or ""
    if not found:
        return Finding("power_profile", Topic.SPEED, title, Severity.NOTE, "unknown", wanted, "", facts)
    choice = profile or governor
    if choice in _FAST:
        return Finding("power_profile", Topic.SPEED, title, Severity.OK, found, wanted, "", facts)
    slow = choice in _SLOW or (profile is None and governor == "powersave" and not _is_pstate(host))
    advice = "Choose it in the system settings, or run `powerprofilesctl set performance`."
    severity = Severity.WARNING if slow else Severity.NOTE
    return Finding("power_profile", Topic.SPEED, title, severity, found, wanted, advice, facts)


def _is_pstate(host: Host) -> bool:
    """With the amd-pstate and intel_pstate drivers "powersave" is the normal governor and reaches full speed."""
    driver = host.text("sys/devices/system/cpu/cpu0/cpufreq/scaling_driver") or ""
    return "pstate" in driver
