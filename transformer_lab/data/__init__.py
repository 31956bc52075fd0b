"""Parallel text: the bilingual world, real corpora, tokenizers and batches."""
