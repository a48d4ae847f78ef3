"""One long session of real tool work: the long-context tasks of ``bfcl-eval``, executed live by its simulators.

Source: bfcl-eval 2026.3.23 (Apache-2.0, read 2026-11-30): ``multi_turn_long_context`` questions, their true calls,
and the simulators that both are written for. The package is not a dependency; nothing of it is copied here.
"""

from __future__ import annotations

import ast
import contextlib
import copy
import importlib
import inspect
import io
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

from strands_ctx.analysis.workloads.workload import LiveResult, Session, Workload
from strands_ctx.errors import ConfigError, StrandsCtxError
from strands_ctx.testing.script import LiveTool, Step, ToolCall

SYSTEM_PROMPT = (
    "You operate a file system, a ticket desk, a messenger, a car, a brokerage and a travel agency through tools. "
    "Do what the user asks with as few calls as it takes, then say in a sentence what was done."
)

_QUESTIONS = "BFCL_v4_multi_turn_long_context.json"
_JSON_TYPES = {int: "integer", float: "number", str: "string", bool: "boolean", list: "array", dict: "object"}


class WorkloadUnavailableError(StrandsCtxError):
    """A workload needs a package that is not installed.

    Attributes:
        package: The package.
    """

    def __init__(self, workload: str, package: str, remedy: str) -> None:
        """Name the package and how to get it."""
        super().__init__(f"the workload {workload} needs the package {package}, which is not installed: {remedy}")
        self.package = package


@dataclass(frozen=True, slots=True)
class _Call:
    method: str
    positional: tuple[Any, ...]
    named: dict[str, Any]


@dataclass(frozen=True, slots=True)
class _Task:
    name: str
    classes: tuple[str, ...]
    config: dict[str, Any]
    turns: tuple[tuple[str, tuple[_Call, ...]], ...]

    @property
    def calls(self) -> int:
        return sum(len(calls) for _, calls in self.turns)


def bfcl_workload(seed: int = 7, calls: int = 120, context_window_limit: int = 32_000) -> Workload:
    """Make one session of many tasks, each user turn an invocation of the same agent.

    Args:
        seed: Chooses and orders the tasks.
        calls: Whole tasks are taken until they make at least so many tool calls; all 200 tasks make 1,203.
        context_window_limit: The model's window in tokens of its own rule.

    Returns:
        The workload; its tools run the simulators, so two calls of one tool can return different results.

    Raises:
        WorkloadUnavailableError: ``bfcl-eval`` is not installed.
        ConfigError: ``calls`` is not positive.
    """
    if calls < 1:
        raise ConfigError("calls", calls, "must be at least 1")
    tasks = _choose(_load_tasks(), Random(seed), calls)
    instances = _open_instances(tasks)
    script, prompts = _script(tasks, instances)
    return Workload(
        name="bfcl",
        system_prompt=SYSTEM_PROMPT,
        prompts=tuple(prompts),
        tasks=tuple(prompts),
        script=tuple(script),
        calls=sum(task.calls for task in tasks),
        context_window_limit=context_window_limit,
        open_session=lambda: _open_session(tasks),
    )


def _data_folder() -> Path:
    return Path(str(_import("bfcl_eval").__file__)).parent / "data"


def _import(module: str) -> ModuleType:
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        package = (error.name or module).split(".")[0].replace("_", "-")
        raise WorkloadUnavailableError("bfcl", package, "pip install --no-deps bfcl-eval mpmath") from error


def _load_tasks() -> list[_Task]:
    folder = _data_folder()
    questions = _read_lines(folder / _QUESTIONS)
    answers = {entry["id"]: entry["ground_truth"] for entry in _read_lines(folder / "possible_answer" / _QUESTIONS)}
    return [
        _Task(
            name=question["id"],
            classes=tuple(question["involved_classes"]),
            config=question["initial_config"],
            turns=tuple(
                (messages[0]["content"], tuple(_parse(call) for call in calls))
                for messages, calls in zip(question["question"], answers[question["id"]], strict=True)
            ),
        )
        for question in questions
    ]


def _read_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]


def _parse(source: str) -> _Call:
    expression = ast.parse(source.strip(), mode="eval").body
    if not isinstance(expression, ast.Call) or not isinstance(expression.func, ast.Name):
        raise ValueError(f"not a plain call: {source}")
    return _Call(
        expression.func.id,
        tuple(ast.literal_eval(argument) for argument in expression.args),
        {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in expression.keywords},
    )


def _choose(tasks: list[_Task], rng: Random, calls: int) -> list[_Task]:
    rng.shuffle(tasks)
    chosen: list[_Task] = []
    for task in tasks:
        if sum(earlier.calls for earlier in chosen) >= calls:
            break
        chosen.append(task)
    return chosen


def _open_instances(tasks: Sequence[_Task]) -> list[dict[str, Any]]:
    with _silence():
        paths = _import("bfcl_eval.constants.executable_backend_config").CLASS_FILE_PATH_MAPPING
        return [_open_task(task, paths) for task in tasks]


def _open_task(task: _Task, paths: dict[str, str]) -> dict[str, Any]:
    methods: dict[str, Any] = {}
    for class_name in task.classes:
        instance = getattr(_import(paths[class_name]), class_name)()
        if hasattr(instance, "_load_scenario"):
            instance._load_scenario(copy.deepcopy(task.config.get(class_name, {})), long_context=True)
        public = inspect.getmembers(instance, predicate=inspect.ismethod)
        methods.update({name: method for name, method in public if not name.startswith("_")})
    return methods


def _script(tasks: Sequence[_Task], instances: Sequence[dict[str, Any]]) -> tuple[list[Step], list[str]]:
    script: list[Step] = []
    prompts: list[str] = []
    for index, (task, methods) in enumerate(zip(tasks, instances, strict=True)):
        number = 0
        for prompt, calls in task.turns:
            prompts.append(prompt)
            for call in calls:
                script.append(
                    ToolCall(call.method, _named(call, methods[call.method]), id=f"task_{index:03d}_{number:02d}")
                )
                number += 1
            done = ", ".join(call.method for call in calls) or "nothing to call"
            script.append(f"That is done ({done}). Tell me if the next step should build on it.")
    return script, prompts


def _named(call: _Call, method: Any) -> dict[str, Any]:
    names = list(inspect.signature(method).parameters)
    return {**dict(zip(names, call.positional, strict=False)), **call.named}


def _open_session(tasks: Sequence[_Task]) -> Session:
    instances = _open_instances(tasks)
    results: list[LiveResult] = []
    used = {call.method for task in tasks for _, calls in task.turns for call in calls}
    owners = {name: methods[name] for methods in instances for name in methods if name in used}
    tools = tuple(_tool(name, owners[name], instances, results) for name in sorted(owners))
    return Session(tools, results)


def _tool(name: str, method: Any, instances: Sequence[dict[str, Any]], results: list[LiveResult]) -> LiveTool:
    def run(tool_use_id: str, given: dict[str, Any]) -> str:
        task = int(tool_use_id.split("_")[1])
        text = _execute(instances[task][name], given)
        results.append(LiveResult(tool_use_id, text))
        return text

    summary = (inspect.getdoc(method) or name).strip().splitlines()[0]
    return LiveTool(name, summary, _schema(method), run)


def _execute(method: Callable[..., Any], given: dict[str, Any]) -> str:
    with _silence():
        try:
            value = method(**given)
        except Exception as error:  # noqa: BLE001 - the simulators' failures are results, as their own runner has it
            return f"Error during execution: {error}"
    if isinstance(value, dict):
        return json.dumps(value, default=str)
    return str(value) or "(no output)"


def _schema(method: Any) -> dict[str, Any]:
    parameters = inspect.signature(method).parameters.values()
    kinds = {parameter.name: _JSON_TYPES.get(parameter.annotation) for parameter in parameters}
    return {
        "type": "object",
        "properties": {name: {"type": kind} if kind else {} for name, kind in kinds.items()},
        "required": [parameter.name for parameter in parameters if parameter.default is inspect.Parameter.empty],
    }


@contextlib.contextmanager
def _silence() -> Iterator[None]:
    with contextlib.redirect_stdout(io.StringIO()):
        yield
