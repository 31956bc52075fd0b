"""The bilingual world: a seeded grammar that writes English-French pairs, and knows all about them."""
