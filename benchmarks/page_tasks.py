"""How long a page stands still: its main thread's longest task, according to Chromium's trace."""

import json
from typing import Any

TRACED = ["toplevel", "devtools.timeline", "disabled-by-default-devtools.timeline"]
"""Categories of a trace; the last has whole tasks, including what promises do after them."""


def find_longest_task(trace: bytes, place: str | None = None) -> tuple[float, float]:
    """Return the milliseconds of the longest task, in processor time and by the clock.

    The clock also runs while the task waits for a free core; processor time is what the task takes on a
    machine that nobody else uses.

    Args:
        trace: What the browser's `stop_tracing` returns, with the categories `TRACED`.
        place: The address of a page that was opened in the trace. Only the tasks of its process count;
            None counts those of every page.
    """
    events: list[dict[str, Any]] = json.loads(trace)["traceEvents"]
    ours = {
        event["pid"]
        for event in events
        if place is None or (event["name"] == "CommitLoad" and place in json.dumps(event["args"]))
    }
    main = {
        (event["pid"], event["tid"])
        for event in events
        if event["name"] == "thread_name" and event["args"]["name"] == "CrRendererMain"
    }
    tasks = [
        event
        for event in events
        if event["name"] == "RunTask"
        and event["pid"] in ours
        and (event["pid"], event["tid"]) in main
    ]
    work, clock = (max(task.get(time, 0) for task in tasks) / 1000 for time in ("tdur", "dur"))
    return work, clock
