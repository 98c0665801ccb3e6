"""Chapter 07: the exercises about features from inside of a model, one module each."""

from autograder.syllabus.features.backbone_c4_c5 import BACKBONE_C4_C5
from autograder.syllabus.features.extract import EXTRACT
from autograder.syllabus.features.node_paths import NODE_PATHS
from autograder.syllabus.features.split_at import SPLIT_AT

EXERCISES = (
    BACKBONE_C4_C5,
    NODE_PATHS,
    EXTRACT,
    SPLIT_AT,
)
