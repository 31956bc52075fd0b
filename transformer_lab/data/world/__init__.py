"""The bilingual world: a seeded grammar of English-French sentence pairs with gold annotations.

Lessons and runs get their default corpus from `grammar.world`. The lab's web page generates the
same sentences in JavaScript (`lab/page/tasks/world`), so a rule that is changed here must be
changed there, too. `python -m tools.world_words` copies the words into the page.
"""
