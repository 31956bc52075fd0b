"""Quizzes: questions written in Markdown, asked in a notebook, a terminal or a web page."""
