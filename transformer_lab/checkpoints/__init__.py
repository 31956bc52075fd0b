"""Other people's models in these layers."""
