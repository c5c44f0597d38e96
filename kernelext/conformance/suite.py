"""jupyter_kernel_test for Go cells: every sample that a Go kernel can have, and a reason for each that it cannot.

Prints one JSON object per test as it ends. The name of the kernel is the first argument.
"""

import json
import sys
import unittest

import jupyter_kernel_test as jkt
from jupyter_kernel_test import msgspec_v5

KERNEL = sys.argv[1]

# What the suite itself allows is for a machine that does nothing else.
jkt.TIMEOUT = 120

# The suite's schemas are older than the welcome of protocol 5.4.
msgspec_v5.schema_fragments.setdefault("iopub_welcome", {"properties": {"subscription": {"type": "string"}}})


class Patient:
    """A channel that waits as long as a machine under load takes: the suite allows 0.1 s between two messages."""

    def __init__(self, channel):
        self.channel = channel
        self.least = 0

    def get_msg(self, timeout=None, **kw):
        if timeout is not None:
            timeout = max(timeout, self.least)
        return self.channel.get_msg(timeout=timeout, **kw)

    def __getattr__(self, name):
        return getattr(self.channel, name)


class GoKernel(jkt.KernelTests):
    kernel_name = KERNEL
    language_name = "go"
    file_extension = ".go"
    code_hello_world = '%%\nfmt.Println("hello, world")'
    code_stderr = '%%\nfmt.Fprintln(os.Stderr, "test")'
    completion_samples = [
        {"text": "%%\nstrings.ToUpp", "matches": {"ToUpper", "ToUpperSpecial"}},
        {"text": "%%\namp.NewGradSc", "matches": {"NewGradScaler"}},
        {"text": "%amp doct", "matches": {"doctor"}},
        {"text": "%%\nnothingLikeThis.At", "matches": set()},
    ]
    complete_code_samples = ["", "var x = 1", "%%\nfmt.Println(1)\n", "func f() {\n}", "!ls (", "amp.NewScope?"]
    incomplete_code_samples = ["func f() {", "%%\nfor {", "%%\nfmt.Println(1)", "var s = `a", "x := 1 +", "/* a", "%%bash\nls"]
    invalid_code_samples = ["}", "f(]", 'var s = "a', "x := 'ab"]
    code_page_something = "amp.NewGradScaler?"
    code_generate_error = "%amp doctr"
    # Cells of Go have no value, but the suite takes its cells for the history from here.
    code_execute_result = [{"code": "%%\nfmt.Println(6 * 7)"}, {"code": "var answer = 42"}, {"code": "!true"}]
    # Without Sync a last display is lost now and then by stock GoNB, too.
    code_display_data = [
        {"code": 'import "github.com/janpfeifer/gonb/gonbui"\n%%\ndefer gonbui.Sync()\ngonbui.DisplayHTML("<b>x</b>")', "mime": "text/html"},
        {
            "code": "%%\nscope := amp.NewScope(amp.Record(amp.Decisions))\ndefer scope.Close()\n"
            "amp.MatMul(scope, amp.Ones(scope, amp.Float32, 2, 2), amp.Ones(scope, amp.Float32, 2, 2))\n"
            "widgets.Show(widgets.Decisions(scope.Trace()))",
            "mime": "image/png",
        },
    ]
    code_history_pattern = "*Println(6 ? 7)*"
    supported_history_operations = ("tail", "range", "search")
    code_inspect_sample = "%%\namp.NewGradScaler"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.kc._iopub_channel = Patient(cls.kc.iopub_channel)
        cls.wait_for_gopls(lambda: cls.kc.complete("%%\namp.NewGradSc"), "matches")

    @classmethod
    def wait_for_gopls(cls, ask, answer):
        """Asks until there is an answer: while gopls reads the packages, on a busy machine, a question may time out unanswered."""
        for _ in range(60):
            ask()
            if cls.kc.get_shell_msg(timeout=30)["content"].get(answer):
                break

    def test_inspect(self):
        self.flush_channels()
        self.wait_for_gopls(lambda: self.kc.inspect(self.code_inspect_sample), "found")
        super().test_inspect()

    def flush_channels(self):
        """Takes what is left of earlier requests: all that comes before the answer to another."""
        msg_id = self.kc.kernel_info()
        for channel, last in ((self.kc.shell_channel, "kernel_info_reply"), (self.kc.iopub_channel, "status")):
            while True:
                msg = channel.get_msg(timeout=jkt.TIMEOUT)
                jkt.validate_message(msg)
                ours = msg["parent_header"].get("msg_id") == msg_id and msg["msg_type"] == last
                if ours and msg["content"].get("execution_state", "idle") == "idle":
                    break

    def execute_helper(self, code, timeout=300, **kw):
        self.kc.iopub_channel.least = 30
        try:
            return super().execute_helper(code, timeout=timeout, **kw)
        finally:
            self.kc.iopub_channel.least = 0

    def test_execute_result(self):
        self.skipTest("a cell of Go is a program, or declarations: it has no value that would be an execute_result")

    def test_clear_output(self):
        self.skipTest("GoNB has no way for a cell to send clear_output: a cell shows progress by updating a display")


class GoWelcome(jkt.IopubWelcomeTests):
    kernel_name = KERNEL
    support_iopub_welcome = True


class Report(unittest.TestResult):
    def tell(self, test, outcome, why=""):
        print(json.dumps({"test": str(test).split()[0], "outcome": outcome, "why": why}), flush=True)

    def addSuccess(self, test):
        self.tell(test, "pass")

    def addSkip(self, test, reason):
        self.tell(test, "skip", reason)

    def addError(self, test, err):
        self.tell(test, "fail", self._exc_info_to_string(err, test))

    def addFailure(self, test, err):
        self.tell(test, "fail", self._exc_info_to_string(err, test))

    def addSubTest(self, test, subtest, err):
        if err is not None:
            self.tell(subtest, "fail", f"{subtest.params}\n{self._exc_info_to_string(err, test)}")


if __name__ == "__main__":
    loader = unittest.TestLoader()
    suite = unittest.TestSuite(loader.loadTestsFromTestCase(c) for c in (GoKernel, GoWelcome))
    suite.run(Report())
