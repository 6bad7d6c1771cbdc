"""`python -m tools.image`: writes the root file system of the container image.

Runs while the image is built, in a stage of the Dockerfile.
"""
