"""PyTorch's global state is restored after an answer changes it."""

import contextlib

import torch

from autograder.core.global_state import preserve_global_state


def test_an_answer_runs_in_one_thread_and_the_notebook_gets_its_threads_back() -> None:
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(3)
        with contextlib.suppress(ZeroDivisionError), preserve_global_state():
            assert torch.get_num_threads() == 1
            with preserve_global_state():
                torch.set_num_threads(2)
            assert torch.get_num_threads() == 1
            raise ZeroDivisionError
        assert torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(before)


def test_modes_and_random_numbers_are_put_back() -> None:
    state, dtype = torch.get_rng_state(), torch.get_default_dtype()
    with preserve_global_state():
        torch.manual_seed(7)
        torch.set_grad_enabled(False)
        torch.set_default_dtype(torch.float64)
    assert torch.equal(torch.get_rng_state(), state)
    assert torch.is_grad_enabled()
    assert torch.get_default_dtype() is dtype
