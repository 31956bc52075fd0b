"""Lesson 15: what does attention cost, compared with an LSTM layer and a convolution?"""
