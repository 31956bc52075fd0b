// A widget as the explorer's host: anywidget calls `render`, and Python answers through the model.

import { make } from "../elements.js";
import { Selection } from "../selection.js";
import { Asking } from "./asking.js";
import { Explorer } from "./explorer.js";

export default {
  async render({ model, el }) {
    const selection = new Selection(model);
    const asking = new Asking(model, selection, (...data) => explorer.load(...data));
    const explorer = new Explorer(el, selection, asking);
    try {
      await asking.receive();
    } catch (error) {
      explorer.close();
      throw error; // the still picture beside the widget stays
    }
    const seePictures = hidePictures(model, el);
    return () => {
      seePictures();
      explorer.close();
    };
  },
};

/** As long as the view is in the page, the still pictures beside it are not seen. */
function hidePictures(model, element) {
  const style = make("style");
  const write = () => {
    const names = model.get("stills").map((name) => `[data-still="${CSS.escape(name)}"]`);
    style.textContent = names.length ? `${names.join(", ")} { display: none }` : "";
  };
  model.on("change:stills", write);
  write();
  element.append(style);
  return () => {
    model.off("change:stills", write);
    style.remove();
  };
}
