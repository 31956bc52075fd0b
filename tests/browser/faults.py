"""Errors that are planted in the page's modules, so that a test shows that it would find them."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from transformer_lab.lab.page.join import FOLDER


@contextmanager
def plant_fault(ask: Any, path: str, right: str, wrong: str) -> Iterator[Callable[..., Any]]:
    """`ask` of a page in whose module `path` stands `wrong` instead of `right`."""
    text = (FOLDER / path).read_text(encoding="utf-8")
    assert text.count(right) == 1

    def answer(route):
        route.fulfill(body=text.replace(right, wrong), content_type="text/javascript")

    page = ask.page.context.new_page()
    try:
        page.route("**/*", ask.answer)
        page.route(f"**/{path}", answer)
        page.goto(ask.page.url)
        yield ask.on(page)
    finally:
        page.close()
