"""Lesson 09: training."""

from transformer_lab.course.lessons import collect_checks, load_quiz
from transformer_lab.course.lessons.lesson_09 import first_loss, training_step

check = collect_checks(training_step, first_loss)
quiz = load_quiz(__name__)
