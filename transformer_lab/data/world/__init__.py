"""The bilingual world: a seeded grammar that writes English-French sentence pairs with gold annotations.

Lessons and runs draw their default corpus from `grammar.world`. The page draws the same sentences
in JavaScript (`lab/page/tasks/world`), so a rule that changes here must change there too. `python
-m tools.world_words` gives the page its words.
"""
