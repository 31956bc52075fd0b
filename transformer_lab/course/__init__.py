"""What the lessons ask of their reader: checks of exercises, and quizzes; one folder a lesson."""
