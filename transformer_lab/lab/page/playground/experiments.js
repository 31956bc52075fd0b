// The guided experiments: each changes one thing, and lets the reader say first what will happen.

/**
 * A `question`; what's different, in `setting`; the `options` to choose a prediction from, and which of them is the
 * `usual` outcome in ten runs (studies/in_the_playground); and the `because` that stands behind the result. The task, the settings of both models, and the `change` of the second one are as in settings.js.
 * `look` is the kind of heads to look at.
 */
export const EXPERIMENTS = [
  {
    name: "answer", task: "reverse", look: "decoder", change: { name: "mask", value: false },
    question: "What if it can see the answer while it learns?",
    setting: "The mask hides the letters that come next. The second model has no mask, so in training it can see the letter that it's meant to guess.",
    options: ["It learns faster and writes better.", "It makes no difference.", "It looks brilliant in training, and can't write."],
    usual: 2,
    because: "In training, the next letters were always there to look at. When it has to write, they aren't, and it has never had to manage without them. In the pictures of its heads, the answer sits one square to the right of the diagonal.",
  },
  {
    name: "order", task: "reverse", change: { name: "positions", value: "none" },
    question: "What if it can't tell which letter comes first?",
    setting: "Attention looks at all letters at once, so it has to be told where each one stands. The second model isn't.",
    options: ["It manages all the same.", "It learns, but more slowly.", "It learns next to nothing."],
    usual: 2,
    because: "Without positions, a word is a bag of letters, and nobody can reverse a bag. Only words with very few letters come out right by luck.",
  },
  {
    name: "sorting", task: "sort", change: { name: "positions", value: "none" },
    question: "Does sorting need a sense of order?",
    setting: "The task is to put the letters in alphabetical order. The first model is told where each letter stands, and the second one isn't.",
    options: ["Yes, without it the model fails, as it does at reversing.", "It's slower, but it gets there.", "No, it does just as well."],
    usual: 2,
    because: "It doesn't matter where a letter stood once it's sorted. So a bag of letters is all that the model needs.",
  },
  {
    name: "root", task: "reverse", settings: { heads: 1, width: 64 }, change: { name: "root", value: false },
    question: "Why divide by a square root?",
    setting: "Both models have a single head, which uses 64 numbers of each letter to compare it with the others. The first model divides its scores by √64, so the second one's are eight times as large.",
    options: ["It makes no difference, because the order of the scores is the same.", "It's a little slower.", "It learns next to nothing."],
    usual: 2,
    because: "Go back to the start and look at the heads: with scores that large, softmax gives nearly everything to one letter from the very first step. With steps as large as these, it never gets out of there. Now choose a learning rate of 0.001 and 3,000 steps: it does learn after all.",
  },
  {
    name: "memory", task: "reverse", change: { name: "data", value: 100 },
    question: "How many examples make a rule?",
    setting: "The first model gets new words all the time, so it sees 48,000 of them. The second one gets the same 100 words again and again.",
    options: ["A hundred are enough for such a simple rule.", "It gets about half of the new words right.", "It learns the hundred by heart, and nothing else."],
    usual: 2,
    because: "Its loss goes to zero, because it knows its hundred words by heart. Nothing in them forces it to find the rule.",
  },
  {
    name: "bigger", task: "reverse", change: { name: "width", value: 128 },
    question: "Is bigger better?",
    setting: "The second model is four times as wide, so it has several times as many numbers to learn.",
    options: ["It needs fewer steps, and less time.", "It needs fewer steps, but more time.", "It needs at least as many steps, and far more time."],
    usual: 2,
    because: "Compare the seconds as well as the steps. Each step of the wide model takes far longer, and a task this small gives all those numbers nothing to do.",
  },
  {
    name: "heads", task: "reverse", change: { name: "heads", value: 1 },
    question: "Does it need four heads?",
    setting: "In the second model, each attention layer has a single head. It's as wide as the four together.",
    options: ["Yes, with one head it fails.", "With one head it's a little slower.", "It makes no difference at all."],
    usual: 1,
    because: "Each letter that it writes comes from one place, so one look is enough. A single head just takes longer to find out where to look. We searched this page for a task that needs several heads, and found none. Lesson 03 of the course has one.",
  },
  {
    name: "norm", task: "reverse", settings: { layers: 4 }, change: { name: "norm", value: "none" },
    question: "What is LayerNorm good for?",
    setting: "Both models have four layers on each side now. LayerNorm brings the numbers of each letter back to the same size after every part, and the second model has no LayerNorm.",
    options: ["Without it, nothing is learned.", "It depends on luck: sometimes it learns, and sometimes it doesn't.", "It makes no difference."],
    usual: 1,
    because: "What each layer adds piles up, and nothing brings it back to size. Some random starts survive that, and some don't. With one layer on each side, all of our runs did. Try it.",
  },
  {
    name: "warmup", task: "reverse", settings: { layers: 4, rate: 0.01 }, change: { name: "warmup", value: false },
    question: "What is the warm-up good for?",
    setting: "Both models have four layers on each side, and a rather high learning rate. The first one works up to that rate over a hundred steps, as in the paper. The second one uses it in full from the first step.",
    options: ["Without a warm-up it learns nothing.", "It learns, but worse.", "It makes no difference."],
    usual: 0,
    because: "The first steps are the wildest, because nothing fits yet. With a high rate they throw a deep model so far off that it doesn't come back. With one layer on each side, it makes no difference; try it.",
  },
  {
    name: "rate", task: "reverse", change: { name: "rate", value: 0.03 },
    question: "Can it learn too fast?",
    setting: "The second model's learning rate is ten times as high, so every step goes ten times as far.",
    options: ["It learns ten times as fast.", "It learns, but worse.", "It never learns anything."],
    usual: 1,
    because: "Steps that are too long overshoot, again and again. Look at how unevenly the loss falls, and how high it still is at the end.",
  },
  {
    name: "residual", task: "reverse", settings: { layers: 4 }, change: { name: "residual", value: false },
    question: "What are the residual connections good for?",
    setting: "Both models have four layers on each side. In the first one, every part adds something to what was there. In the second one, every part throws away what was there and puts its own result in its place.",
    options: ["Without them, a model this deep learns nothing.", "Without them it's a little worse.", "They make no difference."],
    usual: 0,
    because: "Nothing gets past the layers unchanged, so the letters are lost on the way up, and the gradient on the way down. With one layer on each side, most words still come out right. Try it.",
  },
  {
    name: "french", task: "world",
    question: "How much French can it learn in a minute?",
    setting: "There's only one model this time. It learns from 20,000 sentences about a small world of animals and streets, and that takes about a minute.",
    options: ["A few words.", "Word by word, but without grammar.", "Most of the new sentences, right to the letter."],
    usual: 2,
    because: "Look at the genders: it writes le and la, and il and elle, mostly correctly, although nobody has told it a rule.",
  },
];
