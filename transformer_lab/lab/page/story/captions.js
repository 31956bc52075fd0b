// The sentences below the pictures: those of the page, one of which is shown, with the words of the moment in it.

import { make } from "../elements.js";

export class Captions {
  /** Take all captions of the page into one place; a caption says in `data-on` when it's shown. */
  constructor(story, place) {
    this.place = place;
    this.all = [...story.querySelectorAll("[data-on]")];
    place.append(...this.all);
    this.problem = make("p", { className: "problem", role: "alert" });
    this.status = make("p", { className: "model-status", role: "status" });
    this.spoken = make("p", { className: "spoken", role: "status" });
    place.before(this.problem);
    place.after(this.status, this.spoken);
  }

  /** `facts` are the names that hold now, such as "cut"; `said` are words by the name of their place. */
  draw(screen, facts, said) {
    let text = "";
    for (const caption of this.all) {
      const [on, ...wanted] = caption.dataset.on.split(" ");
      const isShown = Number(on) === screen && wanted.every((fact) => facts.has(fact));
      caption.classList.toggle("shown", isShown);
      caption.ariaHidden = isShown ? null : "true";
      for (const slot of caption.querySelectorAll("[data-say]")) slot.textContent = said[slot.dataset.say] ?? "";
      if (isShown && !caption.classList.contains("aside")) text = caption.textContent;
    }
    return text;
  }

  /** Let a screen reader say a text, once. */
  speak(text) {
    if (this.spoken.textContent !== text) this.spoken.textContent = text;
  }
}
