"""The findings, a file for each in docs/findings, the rule that computes verdicts, and the page."""
