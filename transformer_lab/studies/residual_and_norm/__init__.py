"""Lesson 05: which stacks learn with and without residual connections and LayerNorm?"""
