"""A generic WebSocket client (`websockets`) against `trellis serve`."""

import asyncio
import json
import os
import signal
import stat
from collections import deque

from common import PATIENCE, Order, ended, nodes, report, same
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus


class Peer:
    """One connection: answers by id, notifications in their order."""

    def __init__(self, socket):
        self.socket = socket
        self.last = 0
        self.events = deque()

    async def call(self, method, params=None):
        answer = await self.ask(method, params)
        assert "error" not in answer, f"{method}: {answer['error']}"
        return answer["result"]

    async def ask(self, method, params=None):
        self.last += 1
        message = {"jsonrpc": "2.0", "id": self.last, "method": f"trellis/{method}"}
        await self.socket.send(json.dumps(message if params is None else {**message, "params": params}))
        while True:
            heard = await self.hear()
            if heard.get("id") == self.last:
                return heard
            self.events.append(heard)

    async def hear(self):
        return json.loads(await asyncio.wait_for(self.socket.recv(), PATIENCE))

    async def event(self, subscription):
        heard = self.events.popleft() if self.events else await self.hear()
        same(heard["method"], "trellis/event", "a notification")
        same(heard["params"]["subscription"], subscription, "of")
        return heard["params"]["result"]

    async def until(self, subscription, wanted):
        """All events up to the first that is wanted."""
        events = [await self.event(subscription)]
        while not wanted(events[-1]):
            events.append(await self.event(subscription))
        return events


async def refusals(url, token):
    """Who may not connect, and why."""
    good = {"Authorization": f"Bearer {token}"}
    table = [
        ("", {}, 401),
        ("", {"Authorization": "Bearer " + "0" * 64}, 401),
        ("/?token=" + token[:-1], {}, 401),
        ("", {**good, "Origin": "https://example.com"}, 403),
        ("", {**good, "Origin": "null"}, 403),
        ("", {**good, "Host": "example.com"}, 403),
    ]
    for path, headers, status in table:
        host = headers.pop("Host", None)
        try:
            # Another name for the same place, as a page would have it whose name was bound anew.
            there = {} if host is None else {"host": "127.0.0.1", "port": int(url.rsplit(":", 1)[1])}
            async with connect(f"ws://{host}" if host else url + path, additional_headers=headers, **there):
                raise AssertionError(f"{path} {headers} was let in")
        except InvalidStatus as refusal:
            same(refusal.response.status_code, status, f"{path} {headers}")
    for path, headers in [("", good), (f"/?token={token}", {}), ("", {**good, "Origin": "http://localhost:3000"})]:
        async with connect(url + path, additional_headers=headers) as socket:
            same((await Peer(socket).call("jobs"))["jobs"], [], "jobs")
    return len(table)


async def generation(peer, order):
    """A run, held for a moment and heard to its end."""
    subscription = await peer.call("subscribe")
    job = (await peer.call("generate", order.generate("by-socket")))["job"]
    same((await peer.call("pauseJob", {"job": job}))["state"], "paused", "held")
    events = await peer.until(subscription, lambda event: event.get("state") == "paused")
    same((await peer.call("resumeJob", {"job": job}))["state"], "running", "let go on")
    events += await peer.until(subscription, lambda event: ended(event, job))
    states = [event["state"] for event in events if event["type"] == "job"]
    # Of states that follow each other at once, only the last may be told.
    same([state for state in states if state != "running"], ["paused", "done"], "states")
    shape = await peer.call("job", {"job": job})
    same(shape["result"]["passed"], 6, "passed")
    return subscription, nodes(events)


async def cancelling(peer, subscription):
    """A job that would never end."""
    job = (await peer.call("runTests", {"root": "stuck", "background": True}))["job"]
    same((await peer.call("jobs"))["jobs"][-1]["state"], "running", "under way")
    await peer.call("cancelJob", {"job": job})
    events = await peer.until(subscription, lambda event: ended(event, job))
    same(events[-1]["state"], "cancelled", "the end")


async def protocol(peer):
    """What JSON-RPC says of calls that are wrong."""
    table = [
        ("nothing", None, -32601),
        ("job", None, -32602),
        ("job", [], -32602),
        ("job", {"job": "job-99"}, 65),
    ]
    for method, params, code in table:
        same((await peer.ask(method, params))["error"]["code"], code, f"{method} {params}")
    await peer.socket.send("{")
    same((await peer.hear())["error"]["code"], -32700, "half a message")


async def main():
    order = Order()
    # Should this client fail, the server goes with it.
    command = [order.binary, "--json", "serve", order.root, "--parent", str(os.getpid())]
    command += ["--allow-origin", "http://localhost:3000"]
    server = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    address = json.loads(await asyncio.wait_for(server.stdout.readline(), PATIENCE))
    same(address["pid"], server.pid, "pid")
    url, token = address["url"], address["token"]
    file = os.path.join(os.environ["XDG_RUNTIME_DIR"], "trellis", f"serve-{server.pid}.token")
    with open(file) as text:
        same(text.read(), token, "the file")
    same(stat.S_IMODE(os.stat(file).st_mode), 0o600, "who may read the token")
    same(stat.S_IMODE(os.stat(os.path.dirname(file)).st_mode), 0o700, "who may list tokens")
    refused = await refusals(url, token)
    async with connect(url, additional_headers={"Authorization": f"Bearer {token}"}, max_size=None) as socket:
        peer = Peer(socket)
        await protocol(peer)
        subscription, statuses = await generation(peer, order)
        await cancelling(peer, subscription)
        same(await peer.call("unsubscribe", [subscription]), True, "unsubscribed")
        subscription = await peer.call("subscribe")
        # A job that is under way when the server is told to end.
        job = (await peer.call("runTests", {"root": "stuck", "background": True}))["job"]
        server.send_signal(signal.SIGTERM)
        events = await peer.until(subscription, lambda event: ended(event, job))
        same(events[-1]["state"], "cancelled", "the last job")
        try:
            while True:
                await peer.hear()
        except ConnectionClosed as closed:
            same(closed.rcvd is not None, True, "a close frame")
    same(await asyncio.wait_for(server.wait(), PATIENCE), 0, "exit code")
    assert not os.path.exists(file), "the token is still there"
    report(refused=refused, nodes=statuses)


asyncio.run(main())
