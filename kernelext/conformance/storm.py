"""Bad days for a kernel, by Jupyter's own client. Arguments: kernel name, scenario, seed, size.

Ends with one JSON object of what was seen; anything wrong is an exception.
"""

import json
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time
from queue import Empty

import zmq
from jupyter_client.manager import KernelManager

KERNEL, SCENARIO, SEED, SIZE = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
PATIENCE = 120


class Kernel:
    """A kernel and a client of it."""

    def __init__(self, **traits):
        while not self.starts(traits):
            pass

    def starts(self, traits):
        """Starts the kernel; false where a port was another program's by then, of whatever else runs here."""
        self.km = KernelManager(kernel_name=KERNEL, **traits)
        with tempfile.TemporaryFile() as said:
            self.km.start_kernel(stderr=said)
            self.kc = self.km.client()
            self.kc.start_channels()
            try:
                self.kc.wait_for_ready(timeout=PATIENCE)
                return True
            except RuntimeError:
                self.kc.stop_channels()
                said.seek(0)
                text = said.read().decode()
                if "address already in use" not in text or traits:
                    raise RuntimeError("the kernel says: " + text)
                return False

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kc.stop_channels()
        self.km.shutdown_kernel(now=False)

    def outcome(self, msg_id, slow=0.0):
        """Everything about one request: its reply and what was published, up to idle."""
        seen = []
        while True:
            msg = self.kc.get_iopub_msg(timeout=PATIENCE)
            time.sleep(slow)
            if msg["parent_header"].get("msg_id") != msg_id:
                continue
            seen.append(msg)
            if msg["msg_type"] == "status" and msg["content"]["execution_state"] == "idle":
                break
        return self.reply(msg_id), seen

    def reply(self, msg_id):
        while True:
            reply = self.kc.get_shell_msg(timeout=PATIENCE)
            if reply["parent_header"]["msg_id"] == msg_id:
                return reply["content"]

    def run(self, code, **kw):
        return self.outcome(self.kc.execute(code, **kw))

    def heard(self):
        """Waits until signals that were sent have come: the kernel has been at work several times since."""
        for _ in range(3):
            time.sleep(0.1)
            self.kc.control_channel.send(self.kc.session.msg("kernel_info_request", {}))
            expect(self.kc.get_control_msg(timeout=PATIENCE)["content"]["status"] == "ok")

    def works(self):
        reply, seen = self.run('%%\nfmt.Println("still", "here")')
        expect(reply["status"] == "ok" and text(seen) == "still here\n", reply, text(seen))


def text(seen, name="stdout"):
    return "".join(m["content"]["text"] for m in seen if m["msg_type"] == "stream" and m["content"]["name"] == name)


def expect(ok, *what):
    if not ok:
        raise AssertionError(repr(what)[:2000])


def rapid(rng):
    """Many executes at once: each is answered once, in order, with its own output."""
    with Kernel() as k:
        ids = [k.kc.execute("%%%%\nfmt.Println(%d)" % i if i % 10 == 0 else "!echo %d" % i) for i in range(SIZE)]
        counts = []
        for i, msg_id in enumerate(ids):
            reply, seen = k.outcome(msg_id)
            expect(reply["status"] == "ok" and text(seen) == "%d\n" % i, i, reply, text(seen))
            counts.append(reply["execution_count"])
        expect(counts == list(range(counts[0], counts[0] + SIZE)), counts)
        return {"cells": SIZE}


def small(rng):
    """Very many small messages of all kinds, without waiting."""
    kinds = ["kernel_info_request", "is_complete_request", "history_request", "comm_info_request", "unheard_of_request"]
    content = {"code": "x", "hist_access_type": "tail", "output": False, "raw": True, "n": 1}
    with Kernel() as k:
        asked = {}
        for _ in range(SIZE):
            kind = rng.choice(kinds)
            msg = k.kc.session.msg(kind, content)
            k.kc.shell_channel.send(msg)
            asked[msg["header"]["msg_id"]] = kind
        answered = [i for i, kind in asked.items() if kind != "unheard_of_request"]
        for msg_id in answered:
            k.reply(msg_id)
        k.works()
        return {"requests": SIZE, "answered": len(answered)}


def huge(rng):
    """Single messages of many megabytes in both directions: displays whole, text as much as a page bears, and the end of the rest."""
    with Kernel() as k:
        n, whole = SIZE << 20, 1 << 20
        reply, _ = k.run("%%\n_ = `" + "x" * n + "`\nfmt.Println(1)")
        expect(reply["status"] == "ok", reply)
        reply, seen = k.run(
            'import "github.com/janpfeifer/gonb/gonbui"\n%%%%\ngonbui.DisplayHTML(strings.Repeat("y", %d))\ngonbui.Sync()\nfmt.Print(strings.Repeat("z", %d))' % (n, whole)
        )
        expect(reply["status"] == "ok", reply)
        html = [m["content"]["data"]["text/html"] for m in seen if m["msg_type"] == "display_data"]
        expect(len(html) == 1 and len(html[0]) == n and text(seen) == "z" * whole, len(html), len(text(seen)))
        reply, seen = k.run('%%%%\nfmt.Print(strings.Repeat("z", %d), "end")' % n)
        got = text(seen)
        expect(reply["status"] == "ok" and got.startswith("z" * 1000) and got.endswith("zend") and len(got) < 5 << 20, reply, len(got), got[-80:])
        k.works()
        return {"megabytes": SIZE}


def slow(rng):
    """A front end that reads slowly gets every update and every line."""
    with Kernel() as k:
        code = (
            'import "github.com/janpfeifer/gonb/gonbui"\n%%%%\nid := gonbui.UniqueId()\nfor i := range %d {\n'
            '\tgonbui.UpdateHTML(id, fmt.Sprint("<i>", i, strings.Repeat(" ", 2000), "</i>"))\n\tfmt.Println("line", i)\n}\ngonbui.Sync()' % SIZE
        )
        reply, seen = k.outcome(k.kc.execute(code), slow=0.002)
        shown = [m["content"]["data"]["text/html"].split()[0] for m in seen if m["msg_type"] in ("display_data", "update_display_data")]
        expect(reply["status"] == "ok" and shown == ["<i>%d" % i for i in range(SIZE)], reply, len(shown))
        expect(text(seen).splitlines() == ["line %d" % i for i in range(SIZE)], len(text(seen)))
        return {"updates": len(shown)}


def garbage(rng):
    """Garbage frames, forged signatures and other protocols on every port, while a client works."""
    with Kernel() as k:
        ctx = zmq.Context()
        ports = [k.km.shell_port, k.km.control_port, k.km.stdin_port, k.km.iopub_port, k.km.hb_port]
        forged = k.kc.session.clone()
        forged.key = b"not the key"
        marker = "/tmp/halftone-forged-%d" % os.getpid()
        for i in range(SIZE):
            port = rng.choice(ports)
            kind = rng.randrange(4)
            if kind == 0:  # not ZeroMQ
                with socket.create_connection((k.km.ip, port), timeout=5) as s:
                    s.sendall(rng.choice([b"GET / HTTP/1.1\r\n\r\n", bytes(100), rng.randbytes(rng.randrange(1, 5000))]))
                continue
            s = ctx.socket(zmq.SUB if port == k.km.iopub_port else zmq.REQ if port == k.km.hb_port else zmq.DEALER)
            s.linger = 200
            s.connect("tcp://%s:%d" % (k.km.ip, port))
            if s.socket_type == zmq.SUB:
                s.subscribe(rng.randbytes(8))
            elif kind == 1:
                s.send_multipart([rng.randbytes(rng.randrange(0, 300)) for _ in range(rng.randrange(1, 9))])
            elif kind == 2:
                msg = forged.msg("execute_request", {"code": "!touch " + marker, "silent": False})
                s.send_multipart(forged.serialize(msg))
            else:
                msg = forged.msg(rng.choice(["shutdown_request", "interrupt_request", "input_reply"]), {"restart": False})
                s.send_multipart(forged.serialize(msg))
            s.close()
            if i % 25 == 0:
                k.works()
        k.works()
        expect(not os.path.exists(marker), "a forged request was run")
        ctx.destroy(linger=0)
        return {"attacks": SIZE}


VANISH = """
import os, signal, sys
from jupyter_client import BlockingKernelClient
kc = BlockingKernelClient(connection_file=sys.argv[1])
kc.load_connection_file()
kc.start_channels()
kc.wait_for_ready(timeout=100)
kc.execute('%%\\nfor i := range 30 {\\n\\tfmt.Println("beat", i)\\n\\ttime.Sleep(100*time.Millisecond)\\n}')
for _ in range(6):
    kc.get_iopub_msg(timeout=60)
os.kill(os.getpid(), signal.SIGKILL)
"""


def vanish(rng):
    """A front end is killed in the middle of its cell: the cell goes on, and other front ends see it."""
    with Kernel() as k:
        for _ in range(SIZE):
            p = subprocess.run([sys.executable, "-c", VANISH, k.km.connection_file], timeout=PATIENCE)
            expect(p.returncode == -signal.SIGKILL, p.returncode)
            seen = ""
            while "beat 29" not in seen:
                m = k.kc.get_iopub_msg(timeout=PATIENCE)
                seen += m["content"]["text"] if m["msg_type"] == "stream" else ""
            k.works()
        return {"vanished": SIZE}


def pair(rng):
    """Two kernels at once know nothing of each other."""
    with Kernel() as a, Kernel() as b:
        for i in range(SIZE):
            ids = [(k, k.kc.execute('var who = "%s"\n%%%%\nfmt.Println(who, %d)' % (name, i)), name) for k, name in ((a, "a"), (b, "b"))]
            for k, msg_id, name in ids:
                reply, seen = k.outcome(msg_id)
                expect(reply["status"] == "ok" and text(seen) == "%s %d\n" % (name, i), reply, text(seen))
        os.killpg(os.getpgid(a.km.provisioner.pid), signal.SIGKILL)
        b.works()
        return {"rounds": SIZE}


def restart(rng):
    """Restarts, asked for and by force, in the middle of cells and idle: everything is new, and the client works on."""
    with Kernel() as k:
        for i in range(SIZE):
            k.run("var gone = 1")
            if i % 2:
                k.kc.execute("%%\ntime.Sleep(time.Minute)")
                time.sleep(1)
            k.km.restart_kernel(now=i % 4 >= 2, stderr=subprocess.DEVNULL)
            k.kc.wait_for_ready(timeout=PATIENCE)
            reply, seen = k.run("%%\nfmt.Println(gone)")
            expect(reply["status"] == "error" and reply["execution_count"] == 1, reply)
            k.works()
        return {"restarts": SIZE}


def ipc(rng):
    """The same client over unix sockets."""
    import shutil

    folder = tempfile.mkdtemp(prefix="ht", dir="/tmp")
    try:
        with Kernel(transport="ipc", ip=folder + "/k") as k:
            for _ in range(SIZE):
                k.works()
            kinds = {os.path.basename(f).rsplit("-", 1)[0] for f in os.listdir(folder)}
            expect(kinds == {"k"} and len(os.listdir(folder)) == 5, os.listdir(folder))
            mode = os.stat(k.km.connection_file).st_mode & 0o777
            expect(mode == 0o600, oct(mode))
        expect(os.listdir(folder) == [], os.listdir(folder))
    finally:
        shutil.rmtree(folder)
    return {"cells": SIZE}


# Cells for interrupts: what they print when they are let through.
CELLS = [
    ("%%\nfmt.Println(1)", "1\n"),
    ("%%\ntime.Sleep(300 * time.Millisecond)\nfmt.Println(2)", "2\n"),
    ("!sleep 0.2; echo 3", "3\n"),
    ("var v%d = 4\n%%%%\nfmt.Println(v%d)", "4\n"),
    ("%%%%\nfmt.Println(%d)", None),
    ("%amp status\n%%\nfmt.Println(5)", "5\n"),
    ("import \"net/http\"\n%%\nfmt.Println(http.StatusOK)", "200\n"),
]


def interrupts(rng):
    """Interrupts at random times, by message and signal: every cell ends once, and the kernel works afterwards."""
    ended = {"ok": 0, "error": 0, "aborted": 0}
    with Kernel() as k:
        pid = k.km.provisioner.pid
        for i in range(SIZE):
            cells = [rng.choice(CELLS) for _ in range(rng.randrange(1, 4))]
            codes = [c % ((i,) * c.count("%d")) if "%d" in c else c for c, _ in cells]
            ids = [k.kc.execute(c) for c in codes]
            print("round", i, codes, file=sys.stderr)
            asked = 0
            for _ in range(rng.randrange(1, 4)):
                time.sleep(rng.choice([0, 0.01, 0.05, 0.1, 0.2, 0.4, 1.5]) * rng.random())
                if rng.random() < 0.5:
                    os.kill(pid, signal.SIGINT)
                else:
                    k.kc.control_channel.send(k.kc.session.msg("interrupt_request", {}))
                    asked += 1
            for code, (_, out), msg_id in zip(codes, cells, ids):
                reply, seen = k.outcome(msg_id)
                ended[reply["status"]] += 1
                states = [m["content"]["execution_state"] for m in seen if m["msg_type"] == "status"]
                expect(states[0] == "busy" and states[-1] == "idle" and states.count("idle") == 1, i, code, states)
                said = [m["content"]["ename"] for m in seen if m["msg_type"] == "error"]
                expect(reply["status"] != "error" or said == [reply["ename"]], i, code, said, reply)
                if reply["status"] == "ok" and out:
                    expect(text(seen) == out, i, code, text(seen), text(seen, "stderr"))
            for _ in range(asked):  # an interrupt that is still on its way would be the next cell's
                expect(k.kc.get_control_msg(timeout=PATIENCE)["content"]["status"] == "ok")
            k.heard()
            k.works()
        try:
            while True:
                extra = k.kc.get_shell_msg(timeout=0.2)
                raise AssertionError("an answer too many: %r" % extra)
        except Empty:
            pass
    return ended


if __name__ == "__main__":
    result = globals()[SCENARIO](random.Random(SEED))
    print(json.dumps(result))
