"""Lesson 15: what does attention cost, beside an LSTM layer and a convolution?"""
