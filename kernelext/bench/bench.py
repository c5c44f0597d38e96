"""Times cells in several kernels, taking turns, and prints the times as JSON.

Takes the cases as JSON in the first argument. Every round sends each cell once, changed a little, so that it is compiled and
linked again as an edited cell is; what is timed runs from the request until the kernel is idle again.
"""

import json
import sys
import time

from jupyter_client.manager import KernelManager


def start(kernel):
    km = KernelManager(kernel_name=kernel)
    km.start_kernel()
    kc = km.client()
    kc.start_channels()
    kc.wait_for_ready(timeout=60)
    return km, kc


def execute(kc, case, code):
    """The seconds from request to idle. A failed cell and lost output are errors."""
    began = time.perf_counter()
    msg_id = kc.execute(code)
    error, updates, size = None, 0, 0
    while True:
        msg = kc.get_iopub_msg(timeout=300)
        if msg["parent_header"].get("msg_id") != msg_id:
            continue
        kind, content = msg["msg_type"], msg["content"]
        if kind == "error":
            error = "\n".join(content["traceback"])
        elif kind in ("display_data", "update_display_data"):
            updates += 1
        elif kind == "stream" and content["name"] == "stdout":
            size += len(content["text"])
        elif kind == "status" and content["execution_state"] == "idle":
            break
    taken = time.perf_counter() - began
    kc.get_shell_msg(timeout=60)
    if case["updates"] and updates != case["updates"]:
        error = error or "%d of %d updates arrived" % (updates, case["updates"])
    if case["bytes"] and size != case["bytes"]:
        error = error or "%d of %d characters arrived" % (size, case["bytes"])
    if error:
        raise RuntimeError("%s: %s" % (case["name"], error))
    return taken


def stop(kernel):
    km, kc = kernel
    kc.stop_channels()
    km.shutdown_kernel(now=False)


def main():
    order = json.loads(sys.argv[1])
    kernels = {}
    times = {case["name"]: [] for case in order["cases"]}
    try:
        for n in range(-1, order["rounds"]):
            for case in order["cases"]:
                name = case["name"]
                if case["rounds"] and n >= case["rounds"]:
                    continue
                # A kernel per case: declarations of one cell stay in its notebook and would be compiled with the others.
                if case["fresh"] and name in kernels:
                    stop(kernels.pop(name))
                if name not in kernels:
                    kernels[name] = start(case["kernel"])
                taken = execute(kernels[name][1], case, case["code"].replace("{n}", str(n + 2)))
                if n >= 0:  # the first round fills caches
                    times[name].append(taken)
            print(json.dumps({"round": n + 1}), flush=True)
    except Exception as err:
        print(json.dumps({"error": "%s: %s" % (type(err).__name__, err)}), flush=True)
        sys.exit(1)
    finally:
        for kernel in kernels.values():
            stop(kernel)
    print(json.dumps({"times": times}), flush=True)


main()
