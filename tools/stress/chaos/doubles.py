"""Two runs that start in one folder: one trains, the other prints one line and changes nothing."""

from tools.stress.chaos import disturbed
from tools.stress.chaos.trials import Place, Report

STARTS = 10
LONGEST = 0.3
"""The most seconds between the two starts."""
AT_ONCE, UNDER_WAY = "within a tenth of a second", "while the first was under way"


def trials(place: Place, count: int = STARTS) -> Report:
    """Start a second run at a random moment after the first."""
    report = Report("double starts")
    for _ in range(count):
        out, after = place.fresh(), place.random.uniform(0.0, LONGEST)
        first = place.start(disturbed.begin(place.corpus, out), out)
        first.send(0, after)  # signal 0 only asks whether the process exists
        second = place.start(disturbed.begin(place.corpus, out), out)
        codes = sorted((first.wait(), second.wait()))
        report.count(AT_ONCE if after < 0.1 else UNDER_WAY)
        wrong = [] if codes == [0, 1] else [f"they ended with {codes}"]
        loser = first if first.code else second
        if len(loser.errors) != 1 or "Traceback" in " ".join(loser.said):
            wrong.append(f"not exactly one line of error: {loser.said}")
        report.add(wrong + place.wrong_folder(out) + place.wrong_use(out), f"{after:.3f} s apart")
    return report
