"""The official client library of the Model Context Protocol (`mcp`) against `trellis mcp`: every tool is called once."""

import asyncio
import os

from common import PATIENCE, Order, report, same
from jsonschema import Draft7Validator
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

CART = {"namePath": "Cart/total"}
OUT = {"out": "by-model"}
GRAPH = {"graph": "rpg.json"}
UNUSED = {"namePath": "unused", "path": "shop/cart.py"}

#: Tools that refuse what they are called with, since it would take a broken run to serve them.
REFUSED = {"retry_node": "nothing to retry", "install_packages": "nothing to install", "tasks": "does not exist", "tasks_status": "no list of tasks was started", "review_base": "no change of issue"}


def arguments(order):
    """What each tool is called with, in an order in which each finds what it needs."""
    return {
        "generate": order.generate("by-model", wait=True),
        "retry_node": {**order.generate("by-model"), "node": "double", "wait": True},
        "jobs": {},
        "job": {"job": "job-1"},
        "cancel_job": {"job": "job-1"},
        "pause_job": {"job": "job-1"},
        "resume_job": {"job": "job-1"},
        "list_runs": {},
        "list_files": OUT,
        "read_file": {**OUT, "path": "src/lib/basic.py"},
        "status": OUT,
        "report": OUT,
        "node": {**OUT, "node": "double"},
        "log": {"root": "by-model", "kinds": ["accepted"], "last": 1},
        "plan_check": GRAPH,
        "plan_order": GRAPH,
        "plan_show": GRAPH,
        "plan_node": {**GRAPH, "node": "double"},
        "plan_levels": GRAPH,
        "plan_flows": GRAPH,
        "plan_deps": {**GRAPH, "node": "summed"},
        "plan_search": {**GRAPH, "query": "double"},
        "plan_diagnostics": GRAPH,
        "plan_estimate": GRAPH,
        "diff_plans": {"old": "rpg.json", "new": "by-model/docs/rpg.json"},
        "trace_plan": {**GRAPH, "spec": "spec.md"},
        "edit_plan": {**GRAPH, "edit": {"operation": "set", "node": "double", "fields": {"docstring": "Twice."}}, "dryRun": True},
        "plan_from_code": {"root": "shop", "out": "shop.json"},
        "draft_plan": {"spec": "spec.md", "out": "drafted.json", "model": order.model},
        "code_view": {"what": "double", "root": "by-model"},
        "find_symbol": CART,
        "find_referencing_symbols": CART,
        "find_callers": CART,
        "find_definition": {"at": {"file": "shop/till.py", "line": 5, "column": 17}},
        "find_unused": {},
        "check_planned": {"graph": "docs/rpg.json", "root": "by-model"},
        "document_symbols": {"file": "shop/cart.py"},
        "parse_file": {"filePath": "shop/cart.py"},
        "validate_syntax": {"code": "x = 1\n"},
        "run_tests": {"root": "by-model"},
        "generate_tests": {"function": {"filePath": "shop/cart.py", "name": "unused"}, "model": order.model},
        "list_tests": {},
        "find_tests": {"root": "by-model"},
        "affected_tests": {"root": "by-model", "paths": ["src/lib/basic.py"]},
        "add_test_path": {"root": "by-model", "path": "tests/test_basic.py"},
        "localize": {"root": "broken", "trials": 0},
        "propose_fix": {"root": "broken", "test": "test_twice.py::test_twice", "model": order.model},
        "repair": {"root": "broken", "dryRun": True, "model": order.model},
        "implement": {"root": "by-model", "issue": "7", "lld": "by-model/docs/generation_report.md", "dryRun": True},
        "list_models": {"provider": "anthropic"},
        "list_reviews": {"root": "by-model"},
        "review_base": {"root": "by-model", "issue": "7", "path": "src/lib/basic.py"},
        "list_fixes": {"root": "broken"},
        "get_fix": {"root": "broken", "fix": "fix-1"},
        "doctor": {},
        "replace_symbol_body": {**UNUSED, "text": "def unused():\n    return 3\n"},
        "insert_before_symbol": {**UNUSED, "text": "def before():\n    return 0\n"},
        "insert_after_symbol": {**UNUSED, "text": "def after():\n    return 0\n"},
        "replace_text": {"path": "shop/cart.py", "search": "return 3", "replace": "return 4"},
        "rename_symbol": {**CART, "path": "shop/cart.py", "newName": "sum"},
        "safe_delete_symbol": {"namePath": "before", "path": "shop/cart.py"},
        "undo_edit": {},
        "rollback": OUT,
        "list_stacks": {},
        "show_stack": {"stack": "go-api"},
        "new_project": {"stack": "go-api", "out": "made"},
        "install_packages": {"root": "broken"},
        "tasks": {"file": "tasks.json", "stack": "go-api", "out": "tasked", "model": order.model},
        "tasks_status": OUT,
    }


def method(tool):
    """`plan_order` as `trellis/planOrder`."""
    first, *rest = tool.split("_")
    return "trellis/" + first + "".join(word.capitalize() for word in rest)


def validators(document):
    """What checks the result of each method against its description."""
    components = document["components"]
    schemas = {it["name"]: {**it["result"]["schema"], "components": components} for it in document["methods"]}
    return {name: Draft7Validator(schema) for name, schema in schemas.items()}


async def call(session, tool, given, **more):
    answer = await asyncio.wait_for(session.call_tool(tool, given, **more), PATIENCE)
    text = "".join(it.text for it in answer.content)
    assert not answer.is_error, f"{tool} {given}: {text}"
    assert isinstance(answer.structured_content, dict), f"{tool} gave no data"
    assert text, f"{tool} gave no text"
    return answer.structured_content


async def refused(session, tool, given, word):
    """A fault, in words for the model."""
    answer = await asyncio.wait_for(session.call_tool(tool, given), PATIENCE)
    same(answer.is_error, True, f"{tool} {given}")
    assert word in answer.content[0].text, answer.content[0].text


async def every_tool(session, order):
    """Each is called once, and what comes back is what the description says."""
    listed = {tool.name: tool for tool in (await session.list_tools()).tools}
    wanted = arguments(order)
    same(sorted(set(listed) - set(wanted)), [], "tools that nothing is known to call with; add them to `arguments`")
    same(sorted(set(wanted) - set(listed)), [], "tools that are gone; take them out of `arguments`")
    checks = validators(order.described())
    for tool, given in wanted.items():
        schema = listed[tool].input_schema
        assert "$ref" not in str(schema), f"the schema of {tool} refers to something"
        Draft7Validator(schema).validate(given)
        assert listed[tool].description, f"nothing is said of {tool}"
        if tool in REFUSED:
            await refused(session, tool, given, REFUSED[tool])
            continue
        result = await call(session, tool, given)
        if "wait" not in given:
            checks[method(tool)].validate(result)
    return sorted(listed)


async def progress(session, order):
    """A run that tells how far it is."""
    heard = []

    async def hear(done, total, _message):
        heard.append((done, total))

    result = await call(session, "generate", order.generate("heard", wait=True), progress_callback=hear)
    same(result["passed"], 6, "passed")
    same(heard, sorted(set(heard)), "progress grows")
    same(heard[-1], (6, 6), "the last of it")


async def cancelling(session):
    """A call that would never be answered takes its job along."""
    asked = asyncio.ensure_future(session.call_tool("run_tests", {"root": "stuck"}))
    jobs = []
    while not jobs or jobs[-1]["title"] != "all tests" or jobs[-1]["state"] != "running":
        jobs = (await call(session, "jobs", {}))["jobs"]
    asked.cancel()
    while jobs[-1]["state"] == "running":
        jobs = (await call(session, "jobs", {}))["jobs"]
    same(jobs[-1]["state"], "cancelled", "the job goes with the call")


async def faults(session):
    """What is wrong is told to the model, with what to do."""
    for tool, given, word in [
        ("job", {"job": "job-99"}, "there is no job"),
        ("job", {}, "missing field"),
        ("plan_order", {"graph": "none.json"}, "hint:"),
        ("parse_file", {"filePath": "../outside.py"}, "outside the workspace"),
        ("run_tests", {"root": "stuck", "background": 1}, "true or false"),
    ]:
        await refused(session, tool, given, word)


async def main():
    order = Order()
    server = StdioServerParameters(command=order.binary, args=["mcp", order.root], env=dict(os.environ))
    async with stdio_client(server) as streams, ClientSession(*streams) as session:
        same((await session.initialize()).server_info.name, "trellis", "who it is")
        tools = await every_tool(session, order)
        await progress(session, order)
        await cancelling(session)
        await faults(session)
    report(tools=tools)


asyncio.run(main())
