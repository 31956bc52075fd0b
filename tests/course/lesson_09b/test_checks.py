"""Lesson 09b: its checks know what is right, and name what is wrong."""

from tests.course.every_check import *  # noqa: F403
