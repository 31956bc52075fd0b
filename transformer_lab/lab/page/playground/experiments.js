// The guided experiments: each changes one thing, and lets the reader say first what will happen.

export const EXPERIMENTS = [
  {
    name: "answer", task: "reverse", change: { name: "mask", value: false },
    question: "What if it can see the answer while it learns?",
    setting: "The mask hides the letters that come next. The second model has none, so in training it sees the letter that it's meant to guess.",
    options: ["It learns faster and writes better.", "It makes no difference.", "It looks brilliant in training, and can't write."],
    because: "It has learned to copy the answer from the place next to it, and when it has to write, there's nothing there yet.",
  },
  {
    name: "order", task: "reverse", change: { name: "positions", value: "none" },
    question: "What if it can't tell which letter comes first?",
    setting: "Attention looks at all letters at once, so their order has to be added to them. The second model doesn't get it.",
    options: ["It manages all the same.", "It learns, but slowly.", "It learns next to nothing."],
    because: "Without positions a word is a bag of letters, and nobody can reverse a bag.",
  },
];
