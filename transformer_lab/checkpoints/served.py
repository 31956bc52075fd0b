"""A translator that was written for CTranslate2, behind HTTP.

    POST /translate  {"text": ["the cat sleeps"]}  →  {"translation": ["le chat dort"]}

It needs `ctranslate2` and `tokenizers`, and none of PyTorch.
"""

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import tokenizers

from transformer_lab.checkpoints.fast_tokenizer import SOURCE, TARGET
from transformer_lab.config import EXTRA_TOKENS, check

LARGEST = 1_000_000
"""Bytes of a request."""
MOST_TEXTS = 1_000


class ServedTranslator:
    """The folder that `to_ctranslate2` wrote, as a translator of texts; threads may share it.

    A ValueError if `ctranslate2` is not installed, or the folder is none of those.
    """

    def __init__(self, folder: str | Path, threads: int = 1):
        try:
            import ctranslate2
        except ImportError as error:
            expected = "expected pip install 'transformer-lab[serve]'"
            raise ValueError(f"ctranslate2 is not installed; {expected}") from error
        folder = Path(folder)
        try:
            self.engine = ctranslate2.Translator(str(folder), device="cpu", intra_threads=threads)
            self.source = tokenizers.Tokenizer.from_file(str(folder / SOURCE))
            self.target = tokenizers.Tokenizer.from_file(str(folder / TARGET))
            settings = json.loads((folder / "tokenizer_config.json").read_text(encoding="utf-8"))
            self.longest = int(settings["model_max_length"])
        except Exception as error:  # the libraries raise nothing more precise
            expected = "expected the folder that `export --to ctranslate2` wrote"
            raise ValueError(f"{folder} cannot be served ({error}); {expected}") from error
        for tokenizer in (self.source, self.target):
            tokenizer.encode_special_tokens = True  # "<pad>" in a text is a word

    def translate(self, texts: list[str], beam_size: int = 4) -> list[str]:
        """The translations, in order; a ValueError for a text that is empty or too long.

        Each is cut where ours are, at its source length + 50 (§6.1) or where the model ends. With a
        beam, one that has no end is searched on as long as its longest neighbour before it is cut.
        """
        encoded = [one.tokens for one in self.source.encode_batch(texts)]
        for number, (text, tokens) in enumerate(zip(texts, encoded, strict=True), start=1):
            check(f"text {number}", text[:60], "at least one word", len(tokens) > 1)
            expected = f"at most {self.longest} tokens, its end included"
            check(
                f"text {number}",
                f"{len(tokens)} tokens long",
                expected,
                len(tokens) <= self.longest,
            )
        limits = [min(len(tokens) + EXTRA_TOKENS, self.longest) for tokens in encoded]
        found = self.engine.translate_batch(
            encoded,
            beam_size=beam_size,
            max_decoding_length=max(limits, default=1),
            max_input_length=0,
        )
        known = self.target.get_vocab()
        ids = [
            [known[token] for token in one.hypotheses[0][:limit]]
            for one, limit in zip(found, limits, strict=True)
        ]
        return self.target.decode_batch(ids)


def asked_of(body: bytes) -> list[str]:
    """The texts of a request; a ValueError if it is none."""
    try:
        asked = json.loads(body)
    except (ValueError, RecursionError):
        raise ValueError('body is no JSON; expected {"text": ["…"]}') from None
    texts = asked.get("text") if isinstance(asked, dict) else None
    texts = [texts] if isinstance(texts, str) else texts
    fits = isinstance(texts, list) and all(isinstance(text, str) for text in texts)
    check("text", type(texts).__name__, "a text or a list of texts", fits)
    assert isinstance(texts, list)
    check("text", f"{len(texts)} texts", f"1 to {MOST_TEXTS}", 1 <= len(texts) <= MOST_TEXTS)
    return texts


def server(translator: ServedTranslator, port: int, host: str = "127.0.0.1") -> ThreadingHTTPServer:
    """A server that answers once `serve_forever` is called; port 0 takes one that is free."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            size = self.headers.get("Content-Length", "")
            if self.path != "/translate":
                self.answer(404, {"error": f"{self.path} is not here; expected POST /translate"})
            elif not size.isdecimal() or int(size) > LARGEST:
                said = f"the request has {size or 'no'} bytes; expected at most {LARGEST}"
                self.answer(413, {"error": said})
            else:
                try:
                    texts = asked_of(self.rfile.read(int(size)))
                    self.answer(200, {"translation": translator.translate(texts)})
                except ValueError as error:
                    self.answer(400, {"error": str(error)})

        def answer(self, status: int, value: dict[str, Any]) -> None:
            content = json.dumps(value, ensure_ascii=False).encode(errors="replace")
            self.send_response(status)
            self.send_header("Content-Type", "application/json; charset=utf-8")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *arguments: Any) -> None:  # noqa: A002
            """Say nothing: whoever wants a record puts a proxy before it."""

    return ThreadingHTTPServer((host, port), Handler)
