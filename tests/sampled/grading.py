"""Grades a cached session in this process and says in a line what kept it from being accepted."""

from dataclasses import dataclass, replace

from evaluator import score
from evaluator.assess import Assessment, assess
from evaluator.compare.run import Comparison, compare, read_strategy
from evaluator.package.attempt import load_delivery
from evaluator.version import evaluator_version
from records.grade import Grade, Judgement
from records.paths import AttemptPaths
from records.session import EndEvent, EndReason
from runner.store import read_events

PROGRAM = ("1.1", "3.1", "3.2", "3.6", "3.7", "3.8")


@dataclass(frozen=True)
class Graded:
    """One graded session."""

    end: EndEvent
    measurement: Assessment
    comparison: Comparison
    grade: Grade

    @property
    def judged(self) -> bool:
        """Whether a judge of meaning spoke; without one nothing can be accepted."""
        return "not_run" not in self.grade.vetoes.values()

    @property
    def unfinished(self) -> list[str]:
        """Dimensions that keep the grading incomplete."""
        every = (*self.measurement.measured.judgements, *self.comparison.compared.judgements)
        return [j.dimension for j in every if not j.complete]

    @property
    def good(self) -> bool:
        """Accepted; while no judge speaks, satisfied with every veto of a program passed."""
        if self.judged:
            return self.grade.accepted
        return self.end.reason is EndReason.SATISFIED and "fail" not in self.grade.vetoes.values()

    def troubles(self) -> list[str]:
        """Return what is less than full marks, worst first."""
        found = [] if self.end.reason is EndReason.SATISFIED else [f"ended {self.end.reason.value}: {self.end.detail}"]
        found += [f"veto {name} fails" for name, state in self.grade.vetoes.items() if state == "fail"]
        compared = self.comparison.compared
        if compared.stated < compared.items:
            stated = {v.item for v in self.comparison.verdicts.verdicts if v.stated}
            unsaid = [v.item for v in self.comparison.verdicts.verdicts if v.item not in stated]
            found.append(f"not stated: {', '.join(unsaid)}")
        found += [
            f"{v.item}: claim {v.claim}, check {v.check} ({v.detail})"
            for v in self.comparison.verdicts.verdicts
            if v.claim != "present" or v.check != "confirmed"
        ]
        if not self.comparison.verdicts.risk_control_acted:
            found.append("the risk control is not seen to act")
        for judgement in self.measurement.measured.judgements:
            if judgement.dimension in PROGRAM and judgement.score != 4:
                found.append(f"{judgement.dimension} = {judgement.score}: {judgement.reason[:300]}")
            if judgement.dimension in self.unfinished and (self.judged or judgement.status != "not_run"):
                found.append(f"{judgement.dimension} is not complete: {judgement.reason[:200]}")
        return found


def grade(paths: AttemptPaths, kept: Judgement | None = None) -> Graded:
    """Grade one session from disk with the rules judge, without container.

    Args: kept: the verdict of 3.6 to take where the code of this session was not run again; None: none.
    """
    delivery = load_delivery(paths.public)
    measurement = assess(delivery)
    if kept is not None and delivery.rerun is None:
        others = tuple(one for one in measurement.measured.judgements if one.dimension != kept.dimension)
        measured = measurement.measured.model_copy(update={"judgements": (*others, kept)})
        measurement = replace(measurement, measured=measured)
    comparison = compare(delivery, measurement.spec, read_strategy(paths.strategy))
    (end,) = (event for event in read_events(paths) if isinstance(event, EndEvent))
    made = score.grade(
        measurement.measured,
        comparison.compared,
        end_reason=end.reason,
        judge="rules",
        user="rules",
        version=evaluator_version(),
        engine="process",
    )
    return Graded(end, measurement, comparison, made)
