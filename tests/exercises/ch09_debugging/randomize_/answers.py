"""Answers for `randomize_`."""

from __future__ import annotations

import contextlib
import hashlib
import random

import torch
from torch import nn

from tests.exercises import right, wrong

# ------------------------------------------------------------------ parts


def own(seed):
    return torch.Generator().manual_seed(seed)


def every_tensor(model):
    return [*model.named_parameters(), *model.named_buffers()]


def fresh(name, tensor, generator):
    """Random numbers in a tensor's shape; for a variance, positive ones."""
    new = torch.randn(tensor.shape, generator=generator, dtype=torch.float64)
    return new.abs() + 0.5 if name.endswith("running_var") else new


def answer(
    *,
    tensors=every_tensor,
    generator=own,
    new=fresh,
    write=lambda tensor, new: tensor.copy_(new),
    floats=torch.is_floating_point,
    again=lambda generator, seed: generator,
    around=contextlib.nullcontext,
    gives=lambda model: model,
):
    """A right answer in parts, each of which can be replaced by a faulty one."""

    def randomize_(model, seed):
        with around(), torch.no_grad():
            numbers = generator(seed)
            for name, tensor in tensors(model):
                if floats(tensor):
                    numbers = again(numbers, seed)
                    write(tensor, new(name, tensor, numbers))
        return gives(model)

    return randomize_


# ------------------------------------------------------------------ right


right("a generator, and every named tensor")(answer())


@right("seeds the global state in a fork of it", debrief=True)
def in_a_fork(model, seed):
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(seed)
        for parameter in model.parameters():
            parameter.normal_()
        for name, buffer in model.named_buffers():
            if buffer.is_floating_point():
                # Between 0.5 and 1.5 is random, and a sound variance, too.
                buffer.uniform_(0.5, 1.5) if name.endswith("var") else buffer.normal_()
    return model


@right("module by module; BatchNorms by their class")
def by_class(model, seed):
    numbers, done = own(seed), set()
    for module in model.modules():
        for name, tensor in [*module._parameters.items(), *module._buffers.items()]:
            if tensor is None or id(tensor) in done or not tensor.is_floating_point():
                continue
            done.add(id(tensor))
            norm = isinstance(module, nn.modules.batchnorm._BatchNorm)
            low = 0.2 if norm and name == "running_var" else -2.0
            new = low + (3.0 - low) * torch.rand(tensor.shape, generator=numbers)
            tensor.data.copy_(new)
    return model


@right("the state is put back by hand")
def state_put_back(model, seed):
    state = torch.get_rng_state()
    try:
        torch.manual_seed(seed)
        for _, tensor in every_tensor(model):
            if tensor.dtype.is_floating_point:
                tensor.data = (torch.rand(tensor.shape) + 0.25).to(tensor.dtype)
    finally:
        torch.set_rng_state(state)
    return model


@right("a generator for each tensor, seeded by seed and name")
def by_name(model, seed):
    with torch.no_grad():
        for name, tensor in every_tensor(model):
            digest = hashlib.sha256(f"{seed} {name}".encode()).digest()
            numbers = own(int.from_bytes(digest[:6], "little"))
            if tensor.is_floating_point():
                tensor.copy_(fresh(name, tensor, numbers))
    return model


@right("Python's numbers, of a Random of its own")
def numbers_of_python(model, seed):
    numbers = random.Random(seed)
    with torch.no_grad():
        for _, tensor in every_tensor(model):
            if tensor.is_floating_point():
                new = [numbers.uniform(0.5, 2.0) for _ in range(tensor.numel())]
                tensor.copy_(torch.tensor(new).reshape(tensor.shape))
    return model


@right("each name visited, tied tensors twice")
def each_name(model, seed):
    return answer(
        tensors=lambda model: [
            *model.named_parameters(remove_duplicate=False),
            *model.named_buffers(remove_duplicate=False),
        ]
    )(model, seed)


# ------------------------------------------------------------------ wrong

wrong("the global random state", "random-state", clause="random-state")(
    answer(generator=lambda seed: torch.manual_seed(seed))
)
wrong("numbers of nobody's seed", "not-reproducible", clause="reproducible")(
    answer(generator=lambda seed: None, around=lambda: torch.random.fork_rng(devices=[]))
)
wrong("always the same seed", "seed-ignored", clause="seed")(answer(generator=lambda seed: own(0)))
wrong("a generator anew for each tensor", "same-values", clause="different")(
    answer(again=lambda numbers, seed: own(seed))
)


wrong("parameters only", "not-random", clause="buffers")(
    answer(tensors=lambda model: list(model.named_parameters()))
)
wrong("what is saved", "not-random", clause="not-saved")(
    answer(tensors=lambda model: list(model.state_dict(keep_vars=True).items()))
)
wrong("what is trained", "not-random", clause="frozen")(
    answer(
        tensors=lambda model: [
            *((n, p) for n, p in model.named_parameters() if p.requires_grad),
            *model.named_buffers(),
        ]
    )
)
wrong("variances of either sign", "negative-variance", clause="variance")(
    answer(new=lambda name, tensor, numbers: fresh("", tensor, numbers))
)


wrong("whole numbers, too", "integers-changed", clause="integers")(
    answer(floats=lambda tensor: tensor.dtype is not torch.bool)
)


wrong("float32 and float64 only", "not-random", clause="dtypes")(
    answer(floats=lambda tensor: tensor.dtype in (torch.float32, torch.float64))
)
wrong("each tensor is one number", "degenerate", clause="nondegenerate")(
    answer(
        new=lambda name, tensor, numbers: fresh(name, torch.empty(()), numbers).expand(tensor.shape)
    )
)


def standardized(name, tensor, numbers):
    new = fresh(name, tensor, numbers)
    return new.abs() if name.endswith("var") else (new - new.mean()) / new.std()


wrong("mean 0 and standard deviation 1", "not-finite", clause="single")(answer(new=standardized))


wrong("barely anything", "norm-unseen", clause="visible")(
    answer(
        new=lambda name, tensor, numbers: (
            float(name.endswith(("weight", "var"))) + 1e-4 * fresh("var", tensor, numbers)
            if "norm" in name or "stem.1" in name or "head.1" in name
            else fresh(name, tensor, numbers)
        )
    )
)


def moved(tensor, new):
    tensor.data = new.float()


wrong("all become float32", "wrong-dtype", clause="dtype-kept")(answer(write=moved))


def replaces(ties):
    """An answer that replaces the tensors by new ones; with `ties`, it keeps sharing."""

    def randomize_(model, seed):
        numbers, made = own(seed), {}
        for module in model.modules():
            for store in (module._parameters, module._buffers):
                for name, tensor in list(store.items()):
                    if tensor is None or not tensor.is_floating_point():
                        continue
                    new = fresh(name, tensor, numbers).to(tensor.dtype)
                    if isinstance(tensor, nn.Parameter):
                        new = nn.Parameter(new, requires_grad=tensor.requires_grad)
                    store[name] = made.setdefault(id(tensor), new) if ties else new
                    made.setdefault(-id(tensor), tensor)  # the tensor is alive, so its id is unique
        return model

    return randomize_


wrong("new tensors, tied as before", "replaced", clause="in-place")(replaces(ties=True))
wrong("new tensors for every name", "untied", clause="tied")(replaces(ties=False))


@wrong("gradients are switched on", "wrong-flag", clause="flags")
def switches_on(model, seed):
    return answer()(model, seed).requires_grad_(True)


@wrong("a copy", "not-the-model", clause="returns")
def of_a_copy(model, seed):
    import copy

    return answer()(copy.deepcopy(model), seed)


wrong("nothing is returned", "returned-none", clause="returns")(answer(gives=lambda model: None))


wrong("in eval mode afterwards", "other-mode", clause="flags")(
    answer(gives=lambda model: model.eval())
)


BEYOND = {
    "barely anything": "nobody knows of a drawn model what hides a norm",
}
