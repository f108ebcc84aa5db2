"""May this user open the GPU? Existence, group and rights of /dev/kfd and of the render node."""

from collections.abc import Iterator

from app.doctor.finding import Fact, Finding, Severity, Topic
from app.doctor.hardware import Hardware
from app.doctor.host import DeviceNode, Host, User

KFD = "/dev/kfd"
_USUAL_GROUPS = ("render", "video")


def check_access(host: Host, hardware: Hardware) -> Iterator[Finding]:
    """Nothing without an AMD GPU: a machine without one needs no rights."""
    if not hardware.has_amd:
        return
    yield _node(host, "kfd", KFD)
    render = hardware.main.render if hardware.main else None
    if render is not None:
        yield _node(host, "render_node", f"/dev/dri/renderD{render}")


def _node(host: Host, key: str, path: str) -> Finding:
    node = host.device(path)
    wanted = "can be read and written by you"
    if node is None:
        advice = (
            "Load the driver with `sudo modprobe amdgpu`. In a container, pass the device: --device=/dev/kfd "
            "--device=/dev/dri (Flatpak: --device=all)."
        )
        return Finding(key, Topic.ACCESS, path, Severity.PROBLEM, "does not exist", wanted, advice)
    facts: dict[str, Fact] = {"group": node.group, "mode": f"{node.mode:04o}", "can_open": node.can_open}
    found = f"group {node.group}, mode {node.mode:04o}; {host.user.name} may {'' if node.can_open else 'not '}open it"
    if node.can_open:
        return Finding(key, Topic.ACCESS, path, Severity.OK, found, wanted, "", facts)
    return Finding(key, Topic.ACCESS, path, Severity.PROBLEM, found, wanted, _rights_advice(node, host.user), facts)


def _rights_advice(node: DeviceNode, user: User) -> str:
    if node.group in user.enrolled and node.group not in user.groups:
        return f"Log out and in again: you were added to the group {node.group} after this session began."
    if node.group in user.groups:
        return (
            f"You are in the group {node.group}, but the group may not write (mode {node.mode:04o}). See which udev "
            "rule sets it: `grep -r kfd /etc/udev/rules.d /usr/lib/udev/rules.d`."
        )
    groups = ",".join(dict.fromkeys((*_USUAL_GROUPS, *([] if node.group == "root" else [node.group]))))
    return f"Join the groups with `sudo usermod -aG {groups} {user.name}`, then log out and in again."
