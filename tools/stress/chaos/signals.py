"""SIGINT, SIGTERM and SIGHUP at random moments: the run saves what it has learnt, and is resumed."""

import signal

from tools.stress.chaos import disturbed
from tools.stress.chaos.trials import Place, Report

SIGNALS = 20
NAMES = ("SIGINT", "SIGTERM", "SIGHUP")
BEGINNING, TRAINING, ENDED = "before it trained", "while it trained", "after its end"


def trials(place: Place, count: int = SIGNALS) -> Report:
    """Send each run one signal. It says that it was interrupted, and is resumed."""
    report = Report("signals")
    for number in range(count):
        out, name, after = place.fresh(), NAMES[number % len(NAMES)], place.moment()
        command = place.start(disturbed.begin(place.corpus, out), out)
        was_sent = command.send(getattr(signal, name), after)
        code = command.wait()
        interrupted = any(line.startswith("interrupted after") for line in command.said)
        wrong = place.wrong_use(out)
        if not was_sent:
            report.count(ENDED)
        elif interrupted:
            report.count(TRAINING)
            if code or disturbed.step_of(out) is None:
                wrong.append(f"ended with {code} and saved nothing: {command.said}")
        else:  # there is nothing to save yet, or it had all been saved
            report.count(BEGINNING if disturbed.step_of(out) is None else ENDED)
            if any("Traceback" in line for line in command.said):
                wrong.append(f"a traceback: {command.said}")
        report.add(wrong + place.wrong_end(out), f"{name} after {after:.3f} s")
    return report
