"""What the class hands in of chapter 03b."""

from __future__ import annotations

from autograder.core.exercise import RANDOM
from tests.exam.submissions import NOTHING, Submission, all_but, mishaps
from tests.exam.submissions.exam import fitted_to_graphs, text_of

CHAPTER = "03b_effects"

RIGHT = {
    "probe_values": text_of("probe_values", "a module around the probe"),
    "sound_dce": text_of("sound_dce", "forwards, until nothing changes"),
    "specialize": text_of("specialize", "a function written as text"),
    "WitnessSelfLoop": text_of("WitnessSelfLoop", "one sum"),
}
OTHERS = {
    "probe_values": text_of("probe_values", "a Transformer that records"),
    "sound_dce": text_of("sound_dce", "marked, then copied into a new graph"),
    "specialize": text_of("specialize", "copied into a graph of its own"),
    "WitnessSelfLoop": text_of("WitnessSelfLoop", "a sum by keywords, read twice"),
}

PARTIAL = {
    "probe_values": text_of("probe_values", "all probes at the end"),
    "sound_dce": text_of("sound_dce", "nothing removed"),
    "specialize": text_of("specialize", "names are not checked"),
}
PARTIAL_EARNS = {
    # Nor does a probe at the end see the value itself, where that is changed in place before.
    "probe_values": all_but("probe_values", "order", "probes"),
    "sound_dce": NOTHING,  # the task itself is to remove something
    "specialize": all_but("specialize", "errors"),
}

KIND = {
    "probe_values": "def probe_values(model, probe):\n    return {'model': model}",
    "sound_dce": "from torch import fx\n\ndef sound_dce(model):\n"
    "    return fx.Interpreter(fx.symbolic_trace(model))",
    "specialize": "import torch\n\ndef specialize(fn, **constants):\n    return fn",
}
RAISES = {
    "probe_values": "def probe_values(model, probe):\n    raise NotImplementedError('later')",
    "sound_dce": "def sound_dce(model):\n    return sound_dce(model)",
    "specialize": "def specialize(fn, **constants):\n    return constants[fn]",
}

SUBMISSIONS = (
    Submission("ada", CHAPTER, "all right", RIGHT),
    Submission("bert", CHAPTER, "all right, in other ways", OTHERS),
    mishaps.untouched(CHAPTER),
    Submission("dan", CHAPTER, "right in part", PARTIAL, earns=PARTIAL_EARNS),
    Submission(
        "eva",
        CHAPTER,
        "fitted to the models of the check cell",
        {"sound_dce": fitted_to_graphs("sound_dce", "forwards, until nothing changes", "model")},
        # Some redraws are of graphs that the check cell does not try.
        earns={"sound_dce": all_but("sound_dce", "modules", "in place", "rest", RANDOM.key)},
    ),
    Submission("finn", CHAPTER, "wrong kinds", KIND, earns=dict.fromkeys(KIND, NOTHING)),
    Submission("gina", CHAPTER, "exceptions", RAISES, earns=dict.fromkeys(RAISES, NOTHING)),
    mishaps.stderr(CHAPTER, RIGHT, "specialize"),
    mishaps.killed(CHAPTER, RIGHT, "probe_values", "ctypes.string_at(0)"),
    mishaps.duplicated_checks(CHAPTER, RIGHT, "sound_dce", "probe_values"),
)
