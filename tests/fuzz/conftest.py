"""One worker thread for all of these tests: the models are tiny, and on a busy machine threads only wait."""

from collections.abc import Iterator

import pytest
import torch


@pytest.fixture(scope="package", autouse=True)
def one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    with pytest.MonkeyPatch.context() as patch:
        for user in ("engine.backends.cpu_threads", "engine.loading.cpu_threads"):
            patch.setattr(user, lambda: 1)
        torch.set_num_threads(1)
        yield
        torch.set_num_threads(before)
