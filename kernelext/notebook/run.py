"""Executes one notebook through a Jupyter kernel and writes it in a form that is the same on every run.

Takes its orders as JSON in the first argument and prints what happens as one JSON object per line.
"""

import contextlib
import hashlib
import html
import json
import os
import re
import subprocess
import sys
import tempfile
import time

# jsonschema takes seconds to import a parser of a format that notebooks have nothing of, where that is installed.
sys.modules.setdefault("rfc3987_syntax", None)

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

# GoNB compiles in a folder with a random name, which panics and compiler messages show.
BUILD_DIR = re.compile(r"(?:[^\s\"'<>;|=]*/)?gonb_[0-9a-f]{8}(?:/gonb_[0-9a-f]{8}|/(main\.go))?")

# GoNB marks lines of a panic with the cell they come from, but only where the panic's text happens to arrive in one piece.
# The display that follows says it always.
CELL_MARK = re.compile(r" ?\x1b\[7m\[\[ Cell \[\d+\] Line \d+ \]\]\x1b\[0m ?")


def steady(text):
    if "gonb_" not in text:  # Trying the pattern at every place of an embedded picture takes seconds.
        return CELL_MARK.sub("", text)
    return BUILD_DIR.sub(lambda m: m.group(1) or "cell", CELL_MARK.sub("", text))


def say(**event):
    # One write per event, so that lines of several threads do not mix.
    sys.stdout.write(json.dumps(event) + "\n")
    sys.stdout.flush()


def end_of(text, most=50000):
    """The end of a text, from the beginning of a line on."""
    if len(text) <= most:
        return text
    return "…" + (text[-most:].partition("\n")[2] or text[-most:])


def first_line(source):
    """The first line that says what a cell is about."""
    lines = [line.strip() for line in source.splitlines()]
    for line in lines:
        if line and not line.startswith(("%", "import ", "//", '"', ")", "_ ")):
            return line
    return next((line for line in lines if line), "")


def stable_ids(nb):
    """Gives cells without an id one that depends on nothing but the notebook."""
    taken = {cell.get("id") for cell in nb.cells}
    for number, cell in enumerate(nb.cells):
        if not cell.get("id"):
            salt = 0
            while True:
                text = "%d/%d/%s" % (number, salt, cell.source)
                cell["id"] = hashlib.sha256(text.encode()).hexdigest()[:8]
                if cell["id"] not in taken:
                    break
                salt += 1
            taken.add(cell["id"])


def read(path):
    """Reads a notebook in format 4.5, the first with cell ids, without inventing random ones."""
    with open(path, encoding="utf-8") as f:
        raw = json.load(f)
    if raw.get("nbformat") == 4 and raw.get("nbformat_minor", 0) < 5:
        raw["nbformat_minor"] = 5
        for cell in raw.get("cells", []):
            cell.setdefault("id", "")
    nb = nbformat.from_dict(raw)
    if nb.nbformat != 4:
        nb = nbformat.convert(nb, 4)
        for cell in nb.cells:
            cell["id"] = ""
    for cell in nb.cells:
        if isinstance(cell.get("source"), list):
            cell["source"] = "".join(cell["source"])
    stable_ids(nb)
    return nbformat.reads(json.dumps(nb), as_version=4)


def without_volatile(value):
    """A copy of figure data without its measurements."""
    if isinstance(value, dict):
        return {k: without_volatile(v) for k, v in value.items() if k != "volatile"}
    if isinstance(value, list):
        return [without_volatile(v) for v in value]
    return value


def parsed(figure):
    """Figure data as a dictionary: front ends may store JSON as text, and nbformat text as lines."""
    if isinstance(figure, list):
        figure = "".join(figure)
    return json.loads(figure) if isinstance(figure, str) else figure


def keep_measurements(nb, saved, draw, mime):
    """Where a figure equals the saved one but for its measurements, puts the saved measurements back and draws them."""
    before = {cell.id: cell for cell in saved.cells if cell.cell_type == "code"}
    for cell in nb.cells:
        old = before.get(cell.id)
        if cell.cell_type != "code" or old is None or len(old.outputs) != len(cell.outputs):
            continue
        for now, then in zip(cell.outputs, old.outputs):
            a, b = now.get("data", {}), then.get("data", {})
            if mime not in a or mime not in b or a[mime] == b[mime]:
                continue
            if without_volatile(parsed(a[mime])) != without_volatile(parsed(b[mime])):
                continue
            faces = subprocess.run(draw, input=json.dumps(parsed(b[mime])).encode(), stdout=subprocess.PIPE, check=True, timeout=60)
            a[mime] = b[mime]
            for kind, face in json.loads(faces.stdout).items():
                if kind in a:
                    a[kind] = face


def keep_volatile(nb, saved):
    """Where nothing else of a notebook has changed, puts back what cells tagged "volatile" had shown: the commit that made the outputs, say."""
    before = {cell.id: cell for cell in saved.cells}
    changed = len(before) != len(nb.cells)
    volatile = []
    for cell in nb.cells:
        old = before.get(cell.id)
        if old is None or old.source != cell.source:
            changed = True
        elif "volatile" in cell.metadata.get("tags", []) and old.get("outputs"):
            volatile.append((cell, old))
        elif cell.get("outputs") != old.get("outputs"):
            changed = True
    if not changed:
        for cell, old in volatile:
            cell.outputs = old.outputs


def shown_errors(cell):
    """What GoNB shows about a cell that does not compile: an HTML block, here as plain text."""
    text = []
    for out in cell.outputs:
        face = out.get("data", {}).get("text/html", "")
        if out.output_type == "display_data" and "vnd.jupyter.stderr" in face:
            face = re.sub(r"(?s)<style>.*?</style>|<div class=\"gonb-err-context\">.*?</div>\s*</div>", "", face)
            lines = [line.rstrip() for line in html.unescape(re.sub(r"<[^>]*>", "", face)).splitlines()]
            text += [line for line in lines if line.strip()]
    return "\n".join(text)


def settle(nb):
    """Drops what a run leaves behind that says nothing about the result."""
    # What the kernel says of its language is kept whole: JupyterLab writes the same, and would mark the notebook as changed.
    meta = {"kernelspec": nb.metadata.get("kernelspec", {}), "language_info": nb.metadata.get("language_info", {"name": "go"})}
    for key, value in nb.metadata.items():
        if key not in ("kernelspec", "language_info", "widgets", "execution"):
            meta[key] = value
    nb.metadata = nbformat.from_dict(meta)
    for cell in nb.cells:
        cell.metadata.pop("execution", None)
        for out in cell.get("outputs", []):
            out.pop("transient", None)
            if out.output_type == "stream":
                out["text"] = steady(out.text)
            elif out.output_type == "error":
                out["evalue"] = steady(out.evalue)
                out["traceback"] = [steady(line) for line in out.traceback]
            else:
                for mime, face in out.get("data", {}).items():
                    if isinstance(face, str) and mime.startswith("text/"):
                        out["data"][mime] = steady(face)


class Client(NotebookClient):
    """Tells about every cell as it runs."""

    began = 0.0

    def watch(self):
        code = [i for i, c in enumerate(self.nb.cells) if c.cell_type == "code" and c.source.strip()]
        number = {index: k + 1 for k, index in enumerate(code)}

        def start(cell, cell_index, **_):
            if cell_index in number:
                self.began = time.monotonic()
                say(event="start", k=number[cell_index], n=len(code), line=first_line(cell.source)[:60])

        def end(cell, cell_index, execute_reply, **_):
            if cell_index in number:
                ok = execute_reply["content"].get("status") == "ok"
                say(event="end", k=number[cell_index], n=len(code), seconds=time.monotonic() - self.began, error=not ok)

        self.on_cell_execute, self.on_cell_executed = start, end

    async def async_start_new_kernel_client(self):
        """Starts a kernel that died before it answered again, on other ports, as Jupyter's server does: between the choice of a port and
        the start of its kernel another program may have taken it."""
        for left in (2, 1, 0):
            try:
                return await super().async_start_new_kernel_client()
            except RuntimeError as err:
                if "died" not in str(err) or not left:
                    raise
                self.km = self.create_kernel_manager()
                await self.async_start_new_kernel()


class WriteError(Exception):
    """A result that could not be kept."""


def umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


def replace(path, fill):
    """Writes so that readers see the old file or the new one. A disk without space keeps the old one and no piece of the new."""
    path = os.path.realpath(path)  # a link stays one
    tmp = None  # a name that nobody has
    try:
        fd, tmp = tempfile.mkstemp(dir=os.path.dirname(path), prefix=os.path.basename(path) + ".", suffix=".new")
        with open(fd, "w", encoding="utf-8") as f:
            fill(f)
        os.chmod(tmp, os.stat(path).st_mode & 0o777 if os.path.exists(path) else 0o666 & ~umask())
        os.replace(tmp, path)
    except BaseException as err:
        if tmp:
            with contextlib.suppress(OSError):
                os.remove(tmp)
        if not isinstance(err, OSError):
            raise
        raise WriteError("all cells ran, but %s could not be written: %s" % (path, err.strerror or err)) from err


def write(nb, path):
    replace(path, lambda f: nbformat.write(nb, f, version=nbformat.NO_CONVERT))


def content(path):
    """The bytes of a file, None where there is none."""
    try:
        with open(path, "rb") as f:
            return f.read()
    except FileNotFoundError:
        return None


# The page as nbconvert makes it, without the scripts that it would load from a network.
OFFLINE = """{%- extends "index.html.j2" -%}
{%- block html_head_js -%}{%- endblock -%}
{%- block html_head_js_mathjax -%}{%- endblock -%}
{%- block html_head_js_mermaidjs -%}{%- endblock -%}"""


def export_html(nb, path):
    from nbconvert import HTMLExporter

    exporter = HTMLExporter(template_name="lab")
    exporter.raw_template = OFFLINE
    body, _ = exporter.from_notebook_node(nb, resources={"metadata": {"name": os.path.splitext(os.path.basename(path))[0]}})
    replace(path, lambda f: f.write(body))


def main():
    order = json.loads(sys.argv[1])
    over = order["output"] and os.path.realpath(order["output"]) == os.path.realpath(order["notebook"])
    before = over and content(order["notebook"])
    saved = read(order["notebook"])
    nb = read(order["notebook"])
    client = Client(
        nb,
        kernel_name=order["kernel"],
        timeout=order["timeout"] or None,
        startup_timeout=120,
        iopub_timeout=120,  # figures are drawn on the way here, and what comes later than this is left out
        record_timing=False,
        coalesce_streams=True,
        allow_errors=False,
        shutdown_kernel="graceful",
        resources={"metadata": {"path": order["dir"]}},
    )
    client.watch()
    failed = None
    try:
        client.execute()
    except CellExecutionError as err:
        settle(nb)
        failed = {"kind": "cell", "text": steady("%s: %s" % (err.ename, err.evalue))}
        cell = next((c for c in reversed(nb.cells) if any(o.output_type == "error" for o in c.get("outputs", []))), None)
        if cell is not None:
            failed["source"] = cell.source
            failed["traceback"] = "\n".join(next(o for o in cell.outputs if o.output_type == "error").traceback)
            failed["stderr"] = "".join(o.text for o in cell.outputs if o.output_type == "stream" and o.name == "stderr")
            failed["stderr"] = failed["stderr"] or shown_errors(cell)
            for what in ("traceback", "stderr"):  # a terminal is to show them, and the line that tells them is to be read
                failed[what] = end_of(failed[what])
    except CellTimeoutError:
        failed = {"kind": "timeout", "text": "a cell took longer than %d s" % order["timeout"]}
    except DeadKernelError as err:
        failed = {"kind": "dead", "text": "the kernel died: %s" % err}

    if nb.metadata.get("kernelspec", {}).get("name", order["kernel"]) == order["kernel"]:  # that of another Go kernel stays
        nb.metadata["kernelspec"] = {"display_name": order["display"], "language": "go", "name": order["kernel"]}
    settle(nb)
    if order["stable"] and not failed:
        keep_measurements(nb, saved, order["draw"], order["figure"])
        keep_volatile(nb, saved)
    if order["output"] and (not failed or order["keep_failed"]):
        if over and content(order["notebook"]) != before:  # saved by an editor, say
            raise WriteError("all cells ran, but %s was changed meanwhile, so it stays as it is: run it again" % order["output"])
        write(nb, order["output"])
        say(event="wrote", path=order["output"])
    if order["html"]:
        export_html(nb, order["html"])
        say(event="wrote", path=order["html"])
    say(event="done", failed=failed)


if __name__ == "__main__":
    try:
        main()
    except WriteError as err:
        say(event="done", failed={"kind": "write", "text": str(err)})
        sys.exit(1)
    except Exception as err:  # Anything else is one sentence, not a traceback.
        say(event="done", failed={"kind": "setup", "text": "%s: %s" % (type(err).__name__, err)})
        sys.exit(1)
