"""The bilingual world: a seeded grammar that writes English-French sentence pairs with gold annotations.

Lessons and runs draw their default corpus from `grammar.world`.
"""
