"""Interrupts the sending of records at every instruction in turn, and prints each time what was
sent.
"""

import json
import sys

sys.path.insert(0, sys.argv[1])
import channel  # noqa: E402

SHORT = 7  # bytes that each write accepts, so that there are many writes


class Interrupted(BaseException):
    pass


def attempt(instruction, pieces):
    """Returns the bytes sent when a handler raises at an instruction of the second of three sends.

    The result also has whether that instruction was reached.
    """
    sent, left = bytearray(), [instruction]

    def write(descriptor, data):
        part = bytes(data[:SHORT]) if pieces else bytes(data)
        sent.extend(part)
        return len(part)

    def tracer(frame, event, _):
        if frame.f_code.co_name != "send":
            return None
        frame.f_trace_opcodes = True
        if event == "opcode":
            left[0] -= 1
            if left[0] == 0:
                raise Interrupted
        return tracer

    channel._write = write
    send, raised = channel.opened(1, "token"), False
    send({"event": "phase", "doing": "start", "id": "first"})
    sys.settrace(tracer)
    try:
        send({"event": "collected", "ids": ["second"]}, {"event": "collected", "ids": ["third"]})
    except Interrupted:
        raised = True
    sys.settrace(None)
    send({"event": "finish", "status": 0})
    return {"sent": sent.decode(), "raised": raised, "reached": left[0] <= 0}


for pieces in (False, True):
    instruction = 1
    while True:
        result = attempt(instruction, pieces)
        print(json.dumps(result))
        if not result["reached"]:
            break
        instruction += 1
