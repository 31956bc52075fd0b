"""A picture that is redrawn in place while a long cell runs."""

from IPython.display import DisplayHandle, display
from matplotlib.figure import Figure

from transformer_lab.figures.display import picture, read_alt_text


class LivePicture:
    """A picture in a notebook's output that can be replaced.

    A saved notebook keeps the last picture shown.
    """

    def __init__(self) -> None:
        self.handle: DisplayHandle | None = None

    def show(self, figure: Figure, *, alt: str = "") -> None:
        """Show a figure in place of the previous one.

        By default, `alt` is the figure's own alt text.
        """
        data = picture(figure, alt or read_alt_text(figure))
        if self.handle is None:
            self.handle = display(data, raw=True, display_id=True)
        else:
            self.handle.update(data, raw=True)
