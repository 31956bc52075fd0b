"""The shape of a page that a notebook holds, as `lab.page.saved.fragment` writes it."""

import re

STORED = re.compile(
    r'<div data-(\w+)="\w+">(.*?)</div>\n<style>.*?</style>\n'
    r'<script type="application/json" data-of="\w+">(.*?)</script>\n'
    r'<script type="module">.*?</script>',
    re.DOTALL,
)
"""The groups are its kind, what is seen where no script runs, and its data."""
