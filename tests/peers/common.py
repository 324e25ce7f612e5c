"""What the peers share: the order they get on standard input, and what they say when something is not as it should be.

Each script is a client that nobody of this project wrote, told what to do; a script that ends without an exception and
prints its report has seen everything it asserts.
"""

import json
import subprocess
import sys

#: Nothing here takes as long, unless it is stuck.
PATIENCE = 120

#: A function of the open file that the disk does not have yet.
ADDED = "\n\ndef added():\n    return 2\n"


class Order:
    """Where things are: the binary, the workspace, the recording's model."""

    def __init__(self):
        order = json.load(sys.stdin)
        self.binary = order["binary"]
        self.root = order["root"]
        self.model = order["model"]

    def generate(self, out, **more):
        """Parameters of a run over the six nodes."""
        return {"graph": "rpg.json", "out": out, "model": self.model, **more}

    def described(self):
        """The description of all methods, as the binary prints it."""
        told = subprocess.run([self.binary, "--json", "serve", "--describe"], stdout=subprocess.PIPE, check=True)
        return json.loads(told.stdout)


def same(found, wanted, what):
    """Asserts that two things are equal, and shows them if not."""
    assert found == wanted, f"{what}: {found!r} instead of {wanted!r}"


def ended(event, job):
    """Whether this event is the end of a job."""
    is_end = event["type"] == "job" and event["state"] not in ("running", "paused")
    return is_end and event["job"] == job


def nodes(events):
    """The last status that was told of each node."""
    return {event["node"]: event["status"] for event in events if event["type"] == "node"}


def report(**what):
    """The last line: what was seen."""
    print(json.dumps(what))
