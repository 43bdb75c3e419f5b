"""What compare.py is made of.

fault, configuration, intervals and shapes are pure: they need neither a GPU nor PyTorch.
"""
