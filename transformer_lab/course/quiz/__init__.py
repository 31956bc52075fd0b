"""Quizzes: questions written in Markdown, asked in a notebook, in a terminal or on a web page."""
