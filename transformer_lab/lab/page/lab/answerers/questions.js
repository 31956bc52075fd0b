// One question at a time to whoever answers: while one is under way the newest waits, and those
// between are never sent.

const GIVE_UP_AFTER = 60000; // milliseconds
const GONE = "The kernel has been restarted, so it can't answer. Run the cell again.";

export class Questions {
  /**
   * `send(number)` sends what is to be asked now; `onAnswer(error)` hears what came of the newest
   * question, and that it was given up after so many seconds hears `onSilence(seconds)`.
   */
  constructor(send, onAnswer, onSilence) {
    Object.assign(this, { send, onAnswer, onSilence });
    this.newest = 0; // answers to older ones are dropped
    this.underWay = null;
    this.waiting = false;
  }

  /** Whatever is on its way is an answer to an older question from now on. */
  renew() {
    // Named by their time, so that those of two views of one widget never share a name.
    this.newest = Math.max(Date.now(), this.newest + 1);
  }

  isStale(number) {
    return number < this.newest;
  }

  ask() {
    this.renew();
    if (this.underWay) this.waiting = true;
    else this.sendNewest();
  }

  sendNewest() {
    this.waiting = false;
    this.underWay = this.newest;
    clearTimeout(this.patience);
    try {
      this.send(this.newest);
    } catch { // as JupyterLab's channel to a kernel that is gone
      this.underWay = null;
      this.onAnswer(GONE);
      return;
    }
    this.patience = setTimeout(() => {
      this.underWay = null;
      if (this.waiting) this.sendNewest();
      else this.onSilence(GIVE_UP_AFTER / 1000);
    }, GIVE_UP_AFTER);
  }

  hear({ answer, error }) {
    // An answer for which the patience was too short is welcome too, if nothing was asked since.
    if (answer == null || (answer !== this.underWay && answer !== this.newest)) return;
    clearTimeout(this.patience);
    this.underWay = null;
    if (this.waiting) this.sendNewest();
    else if (answer === this.newest) this.onAnswer(error); // else the reader is still typing
  }

  close() {
    clearTimeout(this.patience);
  }
}
