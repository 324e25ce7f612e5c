"""A client library for language servers (`pygls`) against `trellis lsp`."""

import asyncio
import os
from pathlib import Path

from common import ADDED, PATIENCE, Order, ended, nodes, report, same
from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException
from pygls.lsp.client import LanguageClient


def plain(value):
    """What the library makes of a message that it does not know, as dictionaries and lists again."""
    if hasattr(value, "_asdict"):
        return {key: plain(it) for key, it in value._asdict().items()}
    return [plain(it) for it in value] if isinstance(value, list) else value


class Editor:
    def __init__(self, order):
        self.order = order
        self.client = LanguageClient("peer", "1")
        self.events = asyncio.Queue()
        self.client.feature("trellis/event")(lambda params: self.events.put_nowait(plain(params)))

    def uri(self, name):
        return Path(self.order.root, name).as_uri()

    async def own(self, method, params, number=None):
        asked = self.client.protocol.send_request_async(f"trellis/{method}", params, number)
        return plain(await asyncio.wait_for(asked, PATIENCE))

    async def until(self, wanted):
        events = [await asyncio.wait_for(self.events.get(), PATIENCE)]
        while not wanted(events[-1]):
            events.append(await asyncio.wait_for(self.events.get(), PATIENCE))
        return events

    async def open(self):
        await self.client.start_io(self.order.binary, "lsp")
        folder = lsp.WorkspaceFolder(uri=self.uri(""), name="world")
        symbols = lsp.DocumentSymbolClientCapabilities(hierarchical_document_symbol_support=True)
        able = lsp.ClientCapabilities(text_document=lsp.TextDocumentClientCapabilities(document_symbol=symbols))
        params = lsp.InitializeParams(
            capabilities=able, process_id=os.getpid(), root_uri=None, workspace_folders=[folder]
        )
        answer = await self.client.initialize_async(params)
        same(answer.server_info.name, "trellis", "who it is")
        self.client.initialized(lsp.InitializedParams())

    async def documents(self):
        """Opened, changed, and asked about before it is saved."""
        text = Path(self.order.root, "shop/cart.py").read_text()
        document = lsp.TextDocumentItem(uri=self.uri("shop/cart.py"), language_id="python", version=1, text=text)
        self.client.text_document_did_open(lsp.DidOpenTextDocumentParams(text_document=document))
        end = lsp.Position(line=text.count("\n"), character=0)
        change = lsp.TextDocumentContentChangePartial(range=lsp.Range(start=end, end=end), text=ADDED)
        version = lsp.VersionedTextDocumentIdentifier(uri=document.uri, version=2)
        self.client.text_document_did_change(
            lsp.DidChangeTextDocumentParams(text_document=version, content_changes=[change])
        )
        named = lsp.TextDocumentIdentifier(uri=document.uri)
        symbols = await self.client.text_document_document_symbol_async(lsp.DocumentSymbolParams(text_document=named))
        same([it.name for it in symbols], ["Cart", "unused", "added"], "symbols of the unsaved text")
        found = await self.client.workspace_symbol_async(lsp.WorkspaceSymbolParams(query="added"))
        same([it.name for it in found], ["added"], "the workspace knows it")

    async def symbols(self):
        """Of `total` in `cart.total()`."""
        at = {
            "text_document": lsp.TextDocumentIdentifier(uri=self.uri("shop/till.py")),
            "position": lsp.Position(line=4, character=17),
        }
        found = await self.client.text_document_definition_async(lsp.DefinitionParams(**at))
        same([it.uri for it in found], [self.uri("shop/cart.py")], "where it is defined")
        context = lsp.ReferenceContext(include_declaration=True)
        found = await self.client.text_document_references_async(lsp.ReferenceParams(context=context, **at))
        uris = [self.uri("shop/cart.py"), self.uri("shop/till.py")]
        same(sorted(it.uri for it in found), uris, "where it is used")
        edit = await self.client.text_document_rename_async(lsp.RenameParams(new_name="sum", **at))
        changed = edit.changes or {it.text_document.uri: it.edits for it in edit.document_changes}
        same(sorted(changed), uris, "what a rename changes")

    async def generation(self):
        """Started, heard to the end, and read."""
        job = (await self.own("generate", self.order.generate("by-editor")))["job"]
        events = await self.until(lambda event: ended(event, job))
        same((await self.own("job", {"job": job}))["result"]["passed"], 6, "passed")
        files = (await self.own("listFiles", {"out": "by-editor"}))["files"]
        assert "src/lib/basic.py" in [it["path"] for it in files], files
        file = await self.own("readFile", {"out": "by-editor", "path": "src/lib/basic.py"})
        assert "def double(" in file["text"], file
        return nodes(events)

    async def cancelling(self):
        """A request that would never be answered."""
        asked = asyncio.ensure_future(self.own("runTests", {"root": "stuck"}, "stuck"))
        running = await self.until(lambda event: event["type"] == "job" and event["state"] == "running")
        self.client.cancel_request(lsp.CancelParams(id="stuck"))
        try:
            raise AssertionError(await asked)
        except JsonRpcException as error:
            same(error.code, lsp.LSPErrorCodes.RequestCancelled.value, "why")
        job = running[-1]["job"]
        events = await self.until(lambda event: ended(event, job))
        same(events[-1]["state"], "cancelled", "the job goes with the request")

    async def close(self):
        """`shutdown` and `exit`; returns the process's code."""
        process = self.client._server
        await self.client.shutdown_async(None)
        self.client.exit(None)
        return await asyncio.wait_for(process.wait(), PATIENCE)


async def main():
    editor = Editor(Order())
    await editor.open()
    await editor.documents()
    await editor.symbols()
    statuses = await editor.generation()
    await editor.cancelling()
    same(await editor.close(), 0, "exit code")
    report(nodes=statuses)


asyncio.run(main())
