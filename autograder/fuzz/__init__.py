"""Random models: what they are made of, how they are drawn, and the cases they make.

`recipe` is what is drawn: small numbers, nothing else. `grammar` says what the numbers choose from.
`codegen` turns a recipe into a class that a person can read and paste. `sampler` draws recipes, and
`shrinker` makes one smaller. `random_models` makes cases of them, `model_builder` their objects.
"""
