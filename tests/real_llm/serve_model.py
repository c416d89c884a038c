"""Serve a GGUF model with llama.cpp until standard input ends; prints the address.

    python -m tests.real_llm.serve_model model.gguf

A process of its own, because the library writes its log to the process's own output and takes
threads of its own.
"""

import os
import sys

import xllamacpp


def main(path: str) -> None:
    params = xllamacpp.CommonParams()
    params.model.path = path
    params.n_ctx, params.n_parallel = 4096, 2
    # A model that does not find its end must not keep a test waiting.
    params.n_predict = 200
    # Threads that wait for each other by spinning are slowest where cores are few and shared.
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.embedding = True
    params.pooling_type = xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_MEAN
    params.model_alias = {"small"}
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)  # noqa: T201
    sys.stdin.read()
    # Its own way of stopping waits for ever when it has only just started.
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1])
