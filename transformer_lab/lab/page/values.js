// Shared values where no Python shares them.

/** What anywidget's model is in a live widget: values by name, and who wants to know. */
export class Values {
  constructor(values) {
    this.values = values;
    this.listeners = [];
  }
  get(name) {
    return this.values[name];
  }
  set(name, value) {
    this.values[name] = value;
    this.listeners.filter(([event]) => event === `change:${name}`).forEach(([, call]) => call());
  }
  save_changes() {}
  on(event, call) {
    this.listeners.push([event, call]);
  }
  off(event, call) {
    this.listeners = this.listeners.filter(([e, c]) => e !== event || c !== call);
  }
}
