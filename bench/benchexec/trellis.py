"""BenchExec's tool-info module for Trellis: how to call it, and what its output means.

    PYTHONPATH=bench/benchexec benchexec --tool-directory target/release bench/benchexec/bundled.xml

A result is true or false only with exit code 0 or 10; what was found and not checked is unknown.
"""

import json

import benchexec.result as result
import benchexec.tools.template


class Tool(benchexec.tools.template.BaseTool2):
    """Trellis."""

    REQUIRED_PATHS = []

    def executable(self, tool_locator):
        return tool_locator.find_executable("trellis")

    def version(self, executable):
        return self._version_from_tool(executable, line_prefix="trellis")

    def name(self):
        return "Trellis"

    def project_url(self):
        return "https://example.org/trellis"

    def cmdline(self, executable, options, task, rlimits):
        command = [executable, "check", task.single_input_file, "--json", "--quiet"]
        if task.property_file:
            command += ["--property", task.property_file]
        if isinstance(task.options, dict) and task.options.get("data_model"):
            command += ["--data-model", task.options["data_model"].lower()]
        if rlimits.cputime:
            # A verdict a moment before the limit is worth more than a kill at it.
            command += ["--timeout", f"{max(1, rlimits.cputime - 2)}s"]
        if rlimits.memory:
            command += ["--memory", f"{rlimits.memory * 4 // 5 // 2**20}MiB"]
        return command + options

    def determine_result(self, run):
        reports = []
        for line in run.output:
            try:
                reports.append(json.loads(line))
            except ValueError:
                continue
        code = run.exit_code.value
        if run.was_timeout:
            return "TIMEOUT"
        if code == 2:
            return result.RESULT_ERROR + " (input)"
        if code == 1 or code is None:
            return result.RESULT_ERROR
        if code == 0:
            return result.RESULT_TRUE_PROP
        if code == 10:
            failing = [r for r in reports if r.get("holds") is False]
            checks = {r["query"].rsplit(": ", 1)[-1] for r in failing}
            return self._violation(run.cmdline, checks)
        reasons = {r["reason"]["kind"] for r in reports if r.get("reason")}
        if "time" in reasons:
            return "TIMEOUT"
        if "memory" in reasons:
            return "OUT OF MEMORY"
        return result.RESULT_UNKNOWN

    @staticmethod
    def _violation(cmdline, checks):
        """The violation by the property that was asked for; memory safety has three of its own."""
        asked = " ".join(str(word) for word in cmdline)
        if "unreach-call" in asked:
            return result.RESULT_FALSE_REACH
        if "no-overflow" in asked:
            return result.RESULT_FALSE_OVERFLOW
        if "termination" in asked:
            return result.RESULT_FALSE_TERMINATION
        if "valid-memsafety" in asked:
            return result.RESULT_FALSE_DEREF
        return result.RESULT_FALSE_PROP

    def get_value_from_output(self, output, identifier):
        """A statistic of the last report: `stored`, `refinements`, `seconds`, …"""
        for line in reversed(list(output)):
            try:
                report = json.loads(line)
            except ValueError:
                continue
            return str(report.get("statistics", {}).get(identifier, report.get(identifier)))
        return None
