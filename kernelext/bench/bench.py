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


def execute(kc, code):
    """The seconds from request to idle, and the error if there was one."""
    began = time.perf_counter()
    msg_id = kc.execute(code)
    error = None
    while True:
        msg = kc.get_iopub_msg(timeout=300)
        if msg["parent_header"].get("msg_id") != msg_id:
            continue
        if msg["msg_type"] == "error":
            error = "\n".join(msg["content"]["traceback"])
        if msg["msg_type"] == "status" and msg["content"]["execution_state"] == "idle":
            break
    taken = time.perf_counter() - began
    kc.get_shell_msg(timeout=60)
    return taken, error


def main():
    order = json.loads(sys.argv[1])
    kernels = []
    times = {case["name"]: [] for case in order["cases"]}
    try:
        # A kernel per case: declarations of one cell stay in its notebook and would be compiled with the others.
        for case in order["cases"]:
            kernels.append(start(case["kernel"]))
        for n in range(-1, order["rounds"]):
            for case, (_, kc) in zip(order["cases"], kernels):
                taken, error = execute(kc, case["code"].replace("{n}", str(n + 2)))
                if error:
                    raise RuntimeError("%s: %s" % (case["name"], error))
                if n >= 0:  # the first round fills caches
                    times[case["name"]].append(taken)
            print(json.dumps({"round": n + 1}), flush=True)
    except Exception as err:
        print(json.dumps({"error": "%s: %s" % (type(err).__name__, err)}), flush=True)
        sys.exit(1)
    finally:
        for km, kc in kernels:
            kc.stop_channels()
            km.shutdown_kernel(now=False)
    print(json.dumps({"times": times}), flush=True)


main()
