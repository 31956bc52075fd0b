// The guided experiments: each changes one thing, and lets the reader say first what will happen.

/**
 * A `question`; what's different, in `setting`; the `options` to choose a prediction from; and the `because` that stands
 * behind the result. The task, the settings of both models, and the `change` of the second one are as in settings.js.
 */
export const EXPERIMENTS = [
  {
    name: "answer", task: "reverse", change: { name: "mask", value: false },
    question: "What if it can see the answer while it learns?",
    setting: "The mask hides the letters that come next. The second model has no mask, so in training it can see the letter that it's meant to guess.",
    options: ["It learns faster and writes better.", "It makes no difference.", "It looks brilliant in training, and can't write."],
    because: "In training, the next letters were always there to look at. When it has to write, they aren't, and it has never seen that before.",
  },
  {
    name: "order", task: "reverse", change: { name: "positions", value: "none" },
    question: "What if it can't tell which letter comes first?",
    setting: "Attention looks at all letters at once, so their order has to be added to them. The second model doesn't get it.",
    options: ["It manages all the same.", "It learns, but more slowly.", "It learns next to nothing."],
    because: "Without positions, a word is a bag of letters, and nobody can reverse a bag. Only words with very few letters come out right by luck.",
  },
  {
    name: "sorting", task: "sort", change: { name: "positions", value: "none" },
    question: "Does sorting need a sense of order?",
    setting: "The task is another one now: put the letters in alphabetical order. Again, the second model doesn't get their positions.",
    options: ["Yes, it fails as it did with reversing.", "It's slower, but it gets there.", "No, it does just as well."],
    because: "It doesn't matter where a letter stood once it's sorted. So a bag of letters is all that the model needs.",
  },
  {
    name: "root", task: "reverse", settings: { heads: 1, width: 64 }, change: { name: "root", value: false },
    question: "Why divide by a square root?",
    setting: "Both models have a single head that compares 64 numbers at a time. The second one doesn't divide what comes out by √64, so its scores are eight times as large.",
    options: ["It makes no difference, because the order of the scores is the same.", "It's a little slower.", "It learns next to nothing."],
    because: "Open the heads and go back to the start: with scores that large, softmax gives nearly everything to one word from the first step on, and there's hardly a slope left to learn from.",
  },
  {
    name: "memory", task: "reverse", change: { name: "data", value: 100 },
    question: "How many examples make a rule?",
    setting: "The first model gets new words all the time, so it sees 48,000 of them. The second one gets the same 100 words again and again.",
    options: ["A hundred are enough for such a simple rule.", "It gets about half of the new words right.", "It learns the hundred by heart, and nothing else."],
    because: "Its loss goes to zero, because it knows its hundred words by heart. That's cheaper than finding the rule.",
  },
  {
    name: "bigger", task: "reverse", change: { name: "width", value: 128 },
    question: "Is bigger better?",
    setting: "The second model is four times as wide, so it has many times as many numbers to learn.",
    options: ["It needs fewer steps, and less time.", "It needs fewer steps, but more time.", "It needs at least as many steps, and far more time."],
    because: "Compare the seconds as well as the steps. Each step of the wide model takes far longer, and for a task this small there's nothing to do for all those numbers.",
  },
  {
    name: "heads", task: "reverse", change: { name: "heads", value: 1 },
    question: "Does it need four heads?",
    setting: "The second model has a single head in each attention. It's as wide as the four together.",
    options: ["Yes, with one head it fails.", "With one head it's a little slower.", "It makes no difference at all."],
    because: "Each letter that it writes comes from one place, so one look is enough, and it just takes longer to find out where. Is there a task here that really needs several heads? Try the brackets.",
  },
  {
    name: "norm", task: "reverse", settings: { layers: 4 }, change: { name: "norm", value: "none" },
    question: "What is LayerNorm good for?",
    setting: "Both models have four layers on each side now. LayerNorm brings the numbers of each letter back to the same size after every part, and the second model has none.",
    options: ["Without it, a model this deep learns little or nothing.", "Without it, learning is slower.", "It makes no difference."],
    because: "What each layer adds piles up, and nothing brings it back to size. How badly that ends depends on the seed. With one layer on each side, the model manages without; try it.",
  },
  {
    name: "warmup", task: "reverse", change: { name: "warmup", value: false },
    question: "Does it need a warm-up?",
    setting: "The paper lets the learning rate grow slowly at the beginning. The second model starts with the highest rate at once.",
    options: ["Without a warm-up it never learns.", "It learns, but worse.", "It makes no difference here."],
    because: "Not every part of the recipe matters everywhere. We tried four layers on each side, too, and there it made no difference either.",
  },
  {
    name: "rate", task: "reverse", change: { name: "rate", value: 0.03 },
    question: "Can it learn too fast?",
    setting: "The second model's learning rate is ten times as high, so every step goes ten times as far.",
    options: ["It learns ten times as fast.", "It learns, but worse.", "It never learns anything."],
    because: "Steps that are too long jump over what they're looking for. Look at the loss: it falls, and then it can't settle.",
  },
  {
    name: "residual", task: "reverse", settings: { layers: 4 }, change: { name: "residual", value: false },
    question: "What are the residual connections good for?",
    setting: "Both models have four layers on each side. In the first one, every part adds something to what was there. In the second one it replaces it.",
    options: ["Without them, a model this deep learns nothing.", "Without them it's a little worse.", "They make no difference."],
    because: "With nothing passed along beside the layers, the letters are lost on the way up, and so is the gradient on the way down. With one layer on each side, most words still come out right; try it.",
  },
  {
    name: "french", task: "world",
    question: "How much French can it learn in a minute?",
    setting: "There's one model this time, and 20,000 sentences of a small world of animals and streets, which are made in this page. It takes about a minute.",
    options: ["A few words.", "Word by word, but without grammar.", "Nearly all of the new sentences, right to the letter."],
    because: "Look at the genders: it writes le and la, and il and elle, mostly right, and nobody has told it a rule.",
  },
];
