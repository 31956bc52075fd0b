"""python -m tools.findings: build docs/findings.md and its pictures from the files of docs/findings."""

from tools.findings.page import write_page

if __name__ == "__main__":
    write_page()
