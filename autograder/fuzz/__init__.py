"""Random models: their parts, the recipes that are sampled, and the cases made from them.

A `recipe` consists of small numbers only. `grammar` defines the choices that the numbers select.
`codegen` turns a recipe into a class that a person can read and paste. `sampler` draws recipes,
and `shrinker` makes one smaller. `random_models` makes cases, `model_builder` their objects.
"""
