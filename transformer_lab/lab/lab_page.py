"""What `lab` returns without a kernel: a page to display in a notebook or to save as a file."""

from pathlib import Path
from typing import Any

from transformer_lab.attention.record import AttentionRecord, Kind
from transformer_lab.attention.scores import score_table
from transformer_lab.figures.display import picture
from transformer_lab.lab.page import saved
from transformer_lab.lab.page.join import script, style
from transformer_lab.lab.still import describe_overview, overview

LOADING = "<p>The translator is loading … It runs in this page, so scripts must be switched on.</p>"
STYLES = ("page.css", "lab/lab.css")


class LabPage:
    """A lab that needs no kernel: a translator runs in the page, or the page shows stored records.

    Notebooks display it, and `to_html` saves it as one file:

        lab(translator, "the cat sleeps").to_html("lab.html")
    """

    def __init__(
        self, title: str, host: str, data: dict[str, Any], record: AttentionRecord, kind: Kind
    ):
        """Create a page from its data.

        Args:
            title: The first sentence on the page; the page's title is "Lab: " and this sentence.
            host: "lab" if the model runs in the page, "record" if the page shows records.
            data: The data that the host's script reads.
            record: The record that the still picture shows.
            kind: The kind of attention in that picture.
        """
        self.title = f"Lab: {title}"
        self.host = host
        self.data = data
        self.record = record
        self.kind: Kind = kind

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        data = self.picture()
        html = fragment(self.host, data["text/html"], saved.dump_json(self.data))
        return data | {"text/html": html}

    def picture(self) -> dict[str, str]:
        """Return a still picture of all heads of one kind, for places where scripts cannot run.

        The result maps MIME types to the picture as HTML and to its alt text.
        """
        runs = "The lab, whose model runs where scripts are allowed. A still picture: " * (
            self.host == "lab"
        )
        alt = runs + describe_overview(self.record, self.kind)
        return picture(overview(self.record, self.kind), alt, coarse=True)

    def to_html(self, path: str | Path, *, title: str = "", overwrite: bool = False) -> Path:
        """Write one HTML file that opens offline in any browser, and return its path.

        Args:
            path: The file to write.
            title: A visible heading, for example about the data that the model was trained on;
                without it, the page begins with the sentence.
            overwrite: Whether to replace a file that already exists.

        Raises:
            ValueError: If the file exists and `overwrite` is not set.
        """
        still = self.picture()["text/html"] if self.host == "record" else LOADING
        body = fragment(self.host, still, saved.dump_json(self.data | {"address": True}))
        return saved.write_page(
            path, title or self.title, body, overwrite=overwrite, heading=bool(title)
        )


def fragment(host: str, still: str, data: str) -> str:
    """Return the HTML of a lab: a still picture, and a script that replaces it.

    The script reads `data`. Data saved by an older version are shown by the current script. If the
    model runs in the page, the script also contains the table of head scores, because the engine
    computes the scores there.
    """
    looks = style(*STYLES)
    if host == "record":
        program, mount = script("lab/record_page.js"), "await mountRecordPages"
    else:
        program = script("lab/engine_page.js")
        table = saved.dump_json(score_table())
        mount = f"const mount = (name) => mountEnginePages(name, {table});\nawait mount"
    return saved.fragment(host, still, data, style=looks, script=program, mount=mount)
