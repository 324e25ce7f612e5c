"""What the kernel tells from inside the sandbox."""

import os
import resource

LIMITS = [getattr(resource, name) for name in dir(resource) if name.startswith("RLIMIT_")]


def memory_kills():
    """How many processes the kernel killed for want of memory in this control group; 0 where it cannot be seen."""
    for path in ("/sys/fs/cgroup/memory.events", "/sys/fs/cgroup/memory/memory.oom_control"):
        try:
            with open(path) as file:
                fields = dict(line.split()[:2] for line in file if len(line.split()) >= 2)
            return int(fields.get("oom_kill", 0))
        except (OSError, ValueError):
            continue
    return 0


def ipc_objects():
    """How many System V objects of each kind there are. They outlive their processes."""
    counts = {}
    for kind in ("shm", "sem", "msg"):
        try:
            with open(f"/proc/sysvipc/{kind}") as file:
                counts[kind] = sum(1 for _ in file) - 1
        except OSError:
            counts[kind] = 0
    return counts


def ipc_left(before):
    """Sentences about those that a run left."""
    now = ipc_objects()
    return [f"System V {kind} objects were left" for kind in now if now[kind] > before[kind]]


def bounds():
    """What a run may change for the worker, and with it for all runs to come, as another process of the same user."""
    priority = os.getpriority(os.PRIO_PROCESS, 0), os.sched_getscheduler(0)
    return [resource.getrlimit(number) for number in LIMITS], os.sched_getaffinity(0), priority
