"""The findings: one file each in docs/findings, a rule that computes the verdict, and the page."""
