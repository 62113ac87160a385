"""Plans, predicts and simulates the training of neural networks on many devices.

A thin layer over the command line: every call runs one command with ``--json`` and returns its object.

    import pipewright
    answer = pipewright.plan("llama3-8b", cluster="h100:2x8", global_batch=128)
    print(answer["objective"], answer["plan"]["stages"])
"""

import json
import os
import subprocess

from pipewright._start import command

__all__ = ["PipewrightError", "check", "plan", "predict", "run", "schedule", "simulate"]


class PipewrightError(Exception):
    """A command that did not succeed: its sentence, and its exit status in ``status``.

    Status 1: the answer is no (nothing fits, a plan cannot run), and the object that was printed is in ``answer``.
    Status 2: wrong input. Others: a failure.
    """

    def __init__(self, sentence, status, answer):
        super().__init__(sentence)
        self.status = status
        self.answer = answer


def run(name, *arguments, **flags):
    """Runs ``pipewright NAME ARGUMENTS --json`` and returns the object that it prints.

    Flags are written with underscores: ``global_batch=64`` is ``--global-batch 64``, ``front=True`` is ``--front``,
    a list is joined by commas, and None and False are left out.
    """
    line = command() + [name] + [os.fspath(each) for each in arguments]
    for flag, value in flags.items():
        if value is None or value is False:
            continue
        line.append("--" + flag.replace("_", "-"))
        if value is not True:
            parts = value if isinstance(value, (list, tuple)) else [value]
            line.append(",".join(str(part) for part in parts))
    done = subprocess.run(line + ["--json"], stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8")
    answer = json.loads(done.stdout) if done.stdout.strip() else None
    if done.returncode != 0:
        raise PipewrightError(done.stderr.strip() or problems(answer), done.returncode, answer)
    return answer


def problems(answer):
    """What is wrong with what was checked, a sentence a line."""
    found = answer.get("problems", []) if isinstance(answer, dict) else []
    return "\n".join(each.get("message", "") for each in found)


def plan(model, **flags):
    """The best plan: ``plan("bert-48", cluster="dapple-a", global_batch=64)``."""
    return run("plan", model, **flags)


def predict(model, **flags):
    """Time and memory of layouts or strategies: ``predict("llama3-8b", cluster="h100:8", tensor_parallel=4, …)``."""
    return run("predict", model, **flags)


def simulate(plan_file, **flags):
    """What happens when in a plan."""
    return run("simulate", plan_file, **flags)


def schedule(name, **flags):
    """A pipeline schedule: ``schedule("zb-h1", stages=4, micro_batches=8)``."""
    return run("schedule", name, **flags)


def check(file, **flags):
    """Whether a plan or schedule can run; raises PipewrightError with status 1 where it cannot."""
    return run("check", file, **flags)
