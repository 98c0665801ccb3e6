"""Chapter 03: the exercises about editing a graph, one module each."""

from autograder.syllabus.manipulation.add_to_mul import ADD_TO_MUL
from autograder.syllabus.manipulation.probe_values import PROBE_VALUES
from autograder.syllabus.manipulation.relu_after_add import RELU_AFTER_ADD
from autograder.syllabus.manipulation.relu_to_gelu import RELU_TO_GELU
from autograder.syllabus.manipulation.remove_dropout import REMOVE_DROPOUT
from autograder.syllabus.manipulation.retarget import RETARGET
from autograder.syllabus.manipulation.sound_dce import SOUND_DCE

EXERCISES = (
    RETARGET,
    ADD_TO_MUL,
    RELU_AFTER_ADD,
    RELU_TO_GELU,
    REMOVE_DROPOUT,
    PROBE_VALUES,
    SOUND_DCE,
)
