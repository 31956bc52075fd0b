"""Lesson 16, the family tree."""

from transformer_lab.course.lessons import collect_checks, load_quiz
from transformer_lab.course.lessons.lesson_16 import relatives, tasks

check = collect_checks(tasks, relatives)
quiz = load_quiz(__name__)
