"""The playground: does each of its guided experiments show what it claims?"""
