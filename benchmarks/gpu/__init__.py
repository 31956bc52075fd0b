"""Tests and measurements on a GPU: one command that needs nothing but a checkout."""
