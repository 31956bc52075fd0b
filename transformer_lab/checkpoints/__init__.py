"""Other people's models in these layers, and ours in the formats of others."""
