"""Chapter 05: the exercises about running Python on Proxies, one module each."""

from autograder.syllabus.proxy.build_with_proxies import BUILD_WITH_PROXIES
from autograder.syllabus.proxy.decompose import DECOMPOSE
from autograder.syllabus.proxy.decomposition_rules import DECOMPOSITION_RULES
from autograder.syllabus.proxy.derivative import DERIVATIVE
from autograder.syllabus.proxy.inline import INLINE

EXERCISES = (
    BUILD_WITH_PROXIES,
    DECOMPOSE,
    DECOMPOSITION_RULES,
    INLINE,
    DERIVATIVE,
)
