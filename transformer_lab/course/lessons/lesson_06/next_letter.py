"""A next-letter model for lesson 06, with functions that sample its text and train it."""

import torch
from torch import Tensor, nn

from transformer_lab.config import TransformerConfig
from transformer_lab.model.encoder import Encoder
from transformer_lab.model.positions import sinusoids

LETTERS = 20


class NextLetter(nn.Module):
    """A next-letter model: embedding, sinusoids, an encoder layer with a given mask, and logits."""

    def __init__(self, d_model: int = 32):
        super().__init__()
        config = TransformerConfig(
            source_vocab_size=LETTERS,
            target_vocab_size=LETTERS,
            d_model=d_model,
            d_ff=64,
            num_heads=4,
            num_encoder_layers=1,
            dropout=0.0,
        )
        self.embedding = nn.Embedding(LETTERS, d_model)
        self.stack = Encoder(config)
        self.output = nn.Linear(d_model, LETTERS)

    def forward(self, letters: Tensor, mask: Tensor) -> Tensor:
        """Compute logits (batch, length, vocabulary) for the letter after each of `letters`."""
        x = self.embedding(letters) + sinusoids(letters.size(1), self.embedding.embedding_dim)
        return self.output(self.stack(x, mask))


def text(lines: int, length: int = 16) -> Tensor:
    """Sample random letters (lines, length), about half of which can be predicted.

    The first two letters are uniformly random. With probability ½, each later letter is the
    successor of the letter two positions before it; otherwise it is uniformly random.
    """
    rows = [torch.randint(LETTERS, (lines,)), torch.randint(LETTERS, (lines,))]
    for _ in range(length - 2):
        follows = torch.rand(lines) < 0.5
        chance = torch.randint(LETTERS, (lines,))
        rows.append(torch.where(follows, (rows[-2] + 1) % LETTERS, chance))
    return torch.stack(rows, dim=1)


def trained_with(mask: Tensor, steps: int = 300, seed: int = 0) -> tuple[NextLetter, float]:
    """Train a `NextLetter` with this mask; return it with its accuracy over the last 20 steps.

    `mask` (length, length) is True where a letter (row) may attend to another (column). Each step
    samples new text. `seed` seeds PyTorch's global generator.
    """
    torch.manual_seed(seed)
    model, right = NextLetter(), []
    descent = torch.optim.Adam(model.parameters(), lr=5e-3)
    for _ in range(steps):
        letters = text(64, len(mask) + 1)
        logits = model(letters[:, :-1], mask)
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), letters[:, 1:].flatten())
        descent.zero_grad()
        loss.backward()
        descent.step()
        right.append((logits.argmax(dim=-1) == letters[:, 1:]).float().mean().item())
    last = right[-20:]
    return model, sum(last) / len(last)
