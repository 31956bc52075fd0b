"""The lessons' exercises: checks, quizzes and the learner's diary, with one folder per lesson.

The notebooks import `check` and `quiz` from here, and the command line shows the diary.
"""
