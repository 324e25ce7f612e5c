"""Information from the kernel inside the sandbox."""

import os
import resource

LIMITS = [getattr(resource, name) for name in dir(resource) if name.startswith("RLIMIT_")]


def memory_kills():
    """Returns how many processes in this control group the kernel killed because memory ran out.

    The result is 0 where the count cannot be read.
    """
    for path in ("/sys/fs/cgroup/memory.events", "/sys/fs/cgroup/memory/memory.oom_control"):
        try:
            with open(path) as file:
                fields = dict(line.split()[:2] for line in file if len(line.split()) >= 2)
            return int(fields.get("oom_kill", 0))
        except (OSError, ValueError):
            continue
    return 0


def ipc_objects():
    """Returns the number of System V objects of each kind. They outlive their processes."""
    counts = {}
    for kind in ("shm", "sem", "msg"):
        try:
            with open(f"/proc/sysvipc/{kind}") as file:
                counts[kind] = sum(1 for _ in file) - 1
        except OSError:
            counts[kind] = 0
    return counts


def ipc_left(before):
    """Returns sentences about the objects that a run left."""
    now = ipc_objects()
    return [f"System V {kind} objects were left" for kind in now if now[kind] > before[kind]]


def bounds():
    """Returns the settings of the worker that a run can change as a process of the same user.

    A change would affect all later runs.
    """
    priority = os.getpriority(os.PRIO_PROCESS, 0), os.sched_getscheduler(0)
    return [resource.getrlimit(number) for number in LIMITS], os.sched_getaffinity(0), priority
