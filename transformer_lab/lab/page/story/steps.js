// Moving through the story: by scrolling, by keys, and by the row of links below the stage.

import { make } from "../elements.js";
import { SCREENS } from "./moment.js";

export class Steps {
  /** `go` hears the number of a screen, and whether somebody pressed for it; `address` gives the link of a screen. */
  constructor(story, stage, { go, address }) {
    Object.assign(this, { story, stage, go, address });
    const button = (text, name, by) => {
      const element = make("button", { type: "button", className: name }, text);
      element.addEventListener("click", () => this.move(by));
      return element;
    };
    this.back = button("Back", "back", -1);
    this.next = button("Next", "next", 1);
    this.links = Array.from({ length: SCREENS }, (_, i) => make("a", { "aria-label": `Screen ${i + 1} of ${SCREENS}` }));
    this.element = make("nav", { className: "steps", "aria-label": "The story" }, this.back, make("span", { className: "marks" }, ...this.links), this.next);
    stage.append(this.element);
    addEventListener("scroll", () => this.follow(), { passive: true });
    document.addEventListener("keydown", (event) => this.press(event));
  }

  /** Whether the stage stays while one scrolls, so that scrolling moves the story; in a low window its buttons do. */
  get isSticky() {
    return getComputedStyle(this.stage).position === "sticky";
  }

  /** How far one scrolls from one screen to the next. */
  get stride() {
    return Math.max(1, (this.story.offsetHeight - this.stage.offsetHeight) / (SCREENS - 1));
  }

  /** Put the window where a screen is told. */
  scrollTo(screen) {
    this.wanted = screen;
    const top = this.isSticky ? this.story.offsetTop + this.stride * (screen - 1) : this.story.offsetTop;
    if (Math.abs(scrollY - top) > 1) scrollTo({ top, behavior: "instant" });
  }

  /** Tell the screen that the window has been scrolled to. */
  follow() {
    if (!this.isSticky) return;
    const past = (scrollY - this.story.offsetTop) / this.stride;
    const screen = Math.min(SCREENS, Math.max(1, 1 + Math.round(past)));
    if (screen !== this.screen) this.go(screen);
  }

  move(by) {
    const screen = this.screen + by;
    if (screen < 1) return scrollTo({ top: 0 });
    if (screen > SCREENS) return document.querySelector(".doors").scrollIntoView();
    this.go(screen, true);
    this.scrollTo(screen);
  }

  /** The keys that go down or up; elsewhere, and where the stage is higher than the window, they scroll. */
  press(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    const takesSpace = event.target.closest("button, a, input, select, textarea, summary");
    const isUp = ["ArrowUp", "ArrowLeft", "PageUp"].includes(event.key) || (event.key === " " && event.shiftKey);
    const isDown = ["ArrowDown", "ArrowRight", "PageDown", " "].includes(event.key);
    if ((!isUp && !isDown) || (event.key === " " && takesSpace)) return;
    const { top, bottom } = this.stage.getBoundingClientRect();
    const isWhole = this.isSticky || (isUp ? top >= -1 : bottom <= innerHeight + 1);
    const isHere = top < innerHeight / 2 && bottom > innerHeight / 2;
    const screen = this.screen + (isUp ? -1 : 1);
    if (!isHere || !isWhole || screen < 1 || screen > SCREENS) return;
    event.preventDefault();
    this.move(isUp ? -1 : 1);
  }

  draw(moment) {
    this.screen = moment.screen;
    if (moment.screen === 1 && document.activeElement === this.back) this.next.focus(); // or the keyboard would lose its place
    this.back.disabled = moment.screen === 1;
    this.next.textContent = moment.screen === SCREENS ? "Go on" : "Next";
    this.links.forEach((link, i) => {
      link.href = this.address({ ...moment, screen: i + 1 });
      if (i + 1 === moment.screen) link.setAttribute("aria-current", "step");
      else link.removeAttribute("aria-current");
    });
  }
}
