"""Prints as JSON what this interpreter is and which parts of Jupyter it can import.

With the argument "quick" it asks the packages' metadata only: importing them all takes a second or two.
"""

import importlib.util
import json
import os
import sys

found = {
    "executable": sys.executable or "",
    "version": "%d.%d.%d" % sys.version_info[:3],
    "prefix": sys.prefix,
    "venv": importlib.util.find_spec("venv") is not None,
    "lab": "", "notebook": "", "client": "", "convert": "", "data": "", "runtime": "", "broken": "",
}


def version_of(name):
    if importlib.util.find_spec(name) is None:
        return ""
    try:
        if "quick" in sys.argv:
            from importlib import metadata

            return metadata.version(name)
        return getattr(__import__(name), "__version__", "") or "0"
    except BaseException as err:  # A package built for another interpreter can fail in any way.
        found["broken"] = "%s: %s: %s" % (name, type(err).__name__, err)
        return ""


if sys.version_info >= (3, 7):
    try:
        from jupyter_core.paths import jupyter_data_dir, jupyter_runtime_dir

        found["data"] = os.path.abspath(jupyter_data_dir())
        found["runtime"] = os.path.abspath(jupyter_runtime_dir())
        for key, name in [("lab", "jupyterlab"), ("notebook", "notebook"), ("client", "nbclient"), ("convert", "nbconvert")]:
            found[key] = version_of(name)
    except ImportError:
        pass
    except BaseException as err:
        found["broken"] = "jupyter_core: %s: %s" % (type(err).__name__, err)

json.dump(found, sys.stdout)
