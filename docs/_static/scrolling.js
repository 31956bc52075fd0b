// What is too wide for the page scrolls: where it does, it is within the reach of the keyboard.

const watch = new ResizeObserver((seen) => {
  for (const { target } of seen) {
    if (target.scrollWidth > target.clientWidth) target.tabIndex = 0;
    else target.removeAttribute("tabindex");
  }
});

document.addEventListener("DOMContentLoaded", () => {
  document.querySelectorAll("pre, .cell_output").forEach((block) => watch.observe(block));
});
