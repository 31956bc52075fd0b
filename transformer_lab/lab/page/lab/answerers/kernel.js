// A Python kernel as who answers: whatever runs there can be asked, and the answer comes a little later.

import { readRecord, readRecords } from "../../record.js";
import { formatChanges } from "../changes.js";
import { Questions } from "./questions.js";
import { RecordAnswerer, joinOnce } from "./record.js";

export class KernelAnswerer extends RecordAnswerer {
  /** `model` is anywidget's. Python may be asked once `receive` has read its first answer. */
  constructor(model) {
    super([]);
    Object.assign(this, { model, canAsk: true, question: null, answered: null, loaded: null });
    this.onNews = () => {}; // is called when Python has answered what somebody else asked, another view for instance
    this.questions = new Questions((number) => this.send(number), (error) => error && this.fail(error), (seconds) =>
      this.fail(`No answer for ${seconds} s. Is the kernel running?`));
    this.listeners = {
      "change:data": () => this.questions.isStale(model.get("data").answers) || this.receive(),
      "msg:custom": (message) => this.questions.hear(message),
    };
    for (const [event, call] of Object.entries(this.listeners)) model.on(event, call);
  }

  close() {
    for (const [event, call] of Object.entries(this.listeners)) this.model.off(event, call);
    this.questions.close();
    this.question = this.loading = null;
  }

  /** The last record answers what is asked; those before it are moments of the past. */
  canChange(moment) {
    return moment >= this.records.length - 1;
  }

  /** See `State.ask`. Only the newest question gets its answer. */
  ask(question, onAnswer, onProblem) {
    this.question = { ...question, onAnswer, onProblem };
    this.newest = question; // it is sent in its turn, also where another view has its answer already
    // Behind a question that Python has not come to, even what is known is asked: its answer would be shown last.
    const isInTurn = this.questions.underWay > (this.loaded.answers ?? 0);
    if (this.isAnswered && !isInTurn) this.answer();
    else this.questions.ask();
  }

  send(number) {
    const { text, kept, changes } = this.newest;
    this.model.send({ ask: number, text, kept, changes });
  }

  /** Read Python's last answer, and pass it on. */
  async receive() {
    const data = this.model.get("data");
    const loading = (this.loading = Symbol("load"));
    const records = await readRecords(data);
    const before = data.before && (await readRecord(data.before, data.fine_from));
    if (this.loading !== loading) return;
    Object.assign(this, { records, unchanged: before, answered: data.question, loaded: data });
    if (this.isAnswered) this.answer();
    else this.onNews(data.question);
  }

  /** Whether the answer to the newest question is here. */
  get isAnswered() {
    return this.question != null && nameQuestion(this.question) === nameQuestion(this.answered);
  }

  answer() {
    const { moment, joinsPieces, onAnswer } = this.question;
    this.question = null;
    const isLatest = this.canChange(moment);
    const stored = [isLatest ? this.records.at(-1) : this.records[moment], ...(isLatest && this.unchanged ? [this.unchanged] : [])];
    const [now, before = now] = this.toAnswers(joinsPieces ? stored.map(joinOnce) : stored);
    onAnswer({ before, now, read: String(now.written) === String(before.written) ? now : null });
  }

  async fail(error) {
    const { question } = this;
    this.question = null;
    // The last answer may be one that was dropped because this question followed it.
    if (this.model.get("data") !== this.loaded) await this.receive();
    if (!this.question) question?.onProblem(error); // else something else was asked meanwhile
  }
}

/** All that Python is asked as one text. */
const nameQuestion = (question) => question && `${formatChanges(question.kept)} ${formatChanges(question.changes)} ${question.text}`;
