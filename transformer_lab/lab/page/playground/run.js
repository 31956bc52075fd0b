// A training run as the page sees it: what it has said so far, and what it's doing.

const GRACE = 100; // milliseconds that a worker has to stop by itself

/** Make a worker of a script's text, which needs no file of its own and no server. */
function makeWorker(text) {
  const address = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
  const worker = new Worker(address);
  URL.revokeObjectURL(address);
  return worker;
}

export class Run {
  /** `spec` is as in `Training`; `changed` is called whenever there's something new. */
  constructor(script, spec, changed) {
    Object.assign(this, { spec, changed });
    this.state = "training"; // or "paused", "stopped", "done", "failed"
    this.step = 0;
    this.seconds = 0;
    this.losses = []; // { step, loss }
    this.moments = []; // what it could do at some of the steps
    this.shown = []; // the first unseen examples
    this.result = null;
    this.problem = "";
    this.answer = null; // to what the reader typed
    this.worker = makeWorker(script);
    this.worker.onmessage = ({ data }) => this.hear(data);
    this.worker.onerror = (event) => this.hear({ kind: "failed", message: event.message || "the browser refused the worker" });
    this.send("start", spec);
  }

  send(ask, given) {
    this.worker?.postMessage({ ask, given });
  }

  hear({ kind, ...said }) {
    HEARD[kind](this, said);
    this.changed(kind);
  }

  get isRunning() {
    return this.state === "training" || this.state === "paused";
  }

  pause() {
    if (this.state !== "training") return;
    this.state = "paused";
    this.send("pause");
    this.changed("paused");
  }

  resume() {
    if (this.state !== "paused") return;
    this.state = "training";
    this.send("resume");
    this.changed("resumed");
  }

  /** Stop at once, whatever the worker is busy with; what has been seen stays. */
  stop() {
    if (!this.isRunning) return;
    this.state = "stopped";
    this.isStopping = true;
    this.send("stop");
    const { worker } = this;
    setTimeout(() => {
      if (!this.isStopping) return;
      this.end(worker);
      this.changed("ended");
    }, GRACE);
    this.changed("stopped");
  }

  end(worker = this.worker) {
    worker?.terminate();
    this.worker = null;
  }

  /** Ask what the model makes of a text; `answer` has it later: { text, note }, or a { problem }. */
  write(text) {
    this.send("write", text);
  }

  /** The model as a file; only while its worker is there. An Error says why it can't be one. */
  save() {
    return new Promise((done, fail) => {
      this.gotFile = ({ file, problem }) => (file ? done(file) : fail(new Error(problem)));
      this.send("save");
    });
  }

  /** Milliseconds that a step has taken so far; null before the first one. */
  get pace() {
    return this.step ? (1000 * this.seconds) / this.step : null;
  }
}

/** What a run does with what its worker says. */
const HEARD = {
  ready: (run, said) => Object.assign(run, said),
  step: (run, { step, seconds, loss }) => {
    Object.assign(run, { step, seconds });
    run.losses.push({ step, loss });
  },
  moment: (run, moment) => run.moments.push(moment),
  done: (run, result) => Object.assign(run, { result, state: "done" }),
  stopped: (run, said) => Object.assign(run, said, { isStopping: false }), // its worker listens, so its model can still be tried
  file: (run, said) => run.gotFile(said),
  answer: (run, answer) => (run.answer = answer),
  failed: (run, { message }) => {
    Object.assign(run, { problem: message, state: "failed" });
    run.end();
  },
};
