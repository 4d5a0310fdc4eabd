"""Passages of a delivery that speak to whoever grades it. They are ignored: none can carry a score as a quote."""

import re

from evaluator.package.quoting import flat

_LEVEL = r"(?:4|four|full marks?|maximum|max|highest|top (?:score|marks?|grade)|perfect|best (?:score|grade))"
_ALL = r"(?:everything|all (?:dimensions|questions|categories|criteria)|(?:every|each) (?:dimension|question|category|criterion))"
_WORK = r"(?:this (?:work|delivery|report|submission|session|file)|this|us|me|it)"
_ADDRESSES = re.compile(
    r"\b(?:ignore|disregard|forget|override)\b[^.]{0,40}\b(?:instructions?|prompts?|rubric|anchors?)\b"
    rf"|\b(?:give|award|assign|output|answer|grade|rate|score|mark) (?:{_ALL}|{_WORK})\b[^.]{{0,40}}\b{_LEVEL}\b"
    rf"|\b(?:give|award|assign|output|answer|put|use)\b[^.]{{0,20}}\b{_LEVEL}\b[^.]{{0,20}}\b(?:on|for|to|in|across|of) {_ALL}\b"
    r"|\b(?:dear|attention|note to|message to|instructions? (?:to|for)) (?:the |any )?(?:grader|judge|evaluator|examiner|assessor|llm)\b"
    r"|\b(?:grader|judge|evaluator|assessor)s? (?:must|should|shall|please|has to|have to|will)\b"
    r"|\byou are (?:now )?(?:a|an|the) (?:grader|judge|evaluator|language model)\b"
    r"|\bquote this (?:sentence|line|passage|text)\b"
    r"|\brule_hits\b"
)
"""Orders in words of grading only: ranking stocks by a score, or a stop that overrides the rebalance, is ordinary work."""


def addresses_judge(text: str) -> bool:
    """Whether a passage gives orders to a grader instead of saying something about the work."""
    return _ADDRESSES.search(flat(text)) is not None
