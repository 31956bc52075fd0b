// Long work is done in parts, with a pause between two of them, so that the page never stands still.

/** Wait until the browser has painted, or a little longer where it doesn't, as in a tab behind others. */
export const waitForFrame = () =>
  new Promise((done) => {
    const timer = setTimeout(done, 200);
    requestAnimationFrame(() => setTimeout(() => (clearTimeout(timer), done())));
  });
