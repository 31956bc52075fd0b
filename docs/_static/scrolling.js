// What's too wide for the page scrolls sideways. Where it does, the keyboard reaches it, and its edge fades, so
// that you see there's more.

(() => {
  const SCROLLS = "pre, .cell_output:not(:has(.tl-lesson)), .table-wrapper, .math-wrapper";

  const look = (block) => {
    const hidden = block.scrollWidth - block.clientWidth;
    if (hidden > 0) block.tabIndex = 0;
    else block.removeAttribute("tabindex");
    block.classList.toggle("more-left", block.scrollLeft > 1);
    block.classList.toggle("more-right", block.scrollLeft < hidden - 1);
  };

  // A formula is set after its page has come, and widens what's in a block without widening the block: watch both.
  const watch = new ResizeObserver((seen) => new Set(seen.map(({ target }) => target.closest(SCROLLS))).forEach(look));

  document.addEventListener("DOMContentLoaded", () => {
    for (const block of document.querySelectorAll(SCROLLS)) {
      for (const each of [block, ...block.children]) watch.observe(each);
      block.addEventListener("scroll", () => look(block), { passive: true });
    }
  });
})();
