"""Chapter 07: the exercises about features from inside of a model, one module each."""

from autograder.syllabus.features.backbone_c4_c5 import BACKBONE_C4_C5
from autograder.syllabus.features.node_paths import NODE_PATHS

EXERCISES = (
    BACKBONE_C4_C5,
    NODE_PATHS,
)
