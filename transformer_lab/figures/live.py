"""A picture that is drawn again in its place while a long cell runs."""

from IPython.display import DisplayHandle, display
from matplotlib.figure import Figure

from transformer_lab.figures.display import picture, read_alt_text


class LivePicture:
    """One place on the page. The last picture shown there is the one that a saved notebook keeps."""

    def __init__(self) -> None:
        self.handle: DisplayHandle | None = None

    def show(self, figure: Figure, *, alt: str = "") -> None:
        """Draw a figure there; `alt` says what one sees in it, if the figure's words do not."""
        data = picture(figure, alt or read_alt_text(figure))
        if self.handle is None:
            self.handle = display(data, raw=True, display_id=True)
        else:
            self.handle.update(data, raw=True)
