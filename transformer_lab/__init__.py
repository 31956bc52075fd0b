"""An interactive course on the Transformer: build it, train it, look inside every head."""
