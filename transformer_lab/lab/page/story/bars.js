// Numbers from 0 to 1 as bars, one below the other.

import { make } from "../elements.js";
import { formatNumber } from "../text.js";

/** Draw bars under a title, which is a list of nodes; `rows` are [name, number], and `lang` is the names' language. */
export const makeBars = (title, rows, lang) =>
  make("div", { className: "bars" }, make("h3", {}, ...title),
    ...rows.map(([name, value]) => {
      const bar = make("span", { className: "bar-fill" });
      bar.style.width = `${100 * value}%`;
      return make("p", { className: "bar-row" }, make("i", { lang }, name),
        make("span", { className: "bar-room", "aria-hidden": "true" }, bar), make("b", {}, formatNumber(value)));
    }));
