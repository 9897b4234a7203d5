"""Memory of the host that two processes map."""

import mmap
import os

from kernwright.core.shared_memory import sealed_memory


class SharedBuffer:
    """Anonymous memory that can be passed as a file descriptor."""

    def __init__(self, nbytes: int) -> None:
        import torch

        self.nbytes = nbytes
        self.fd = sealed_memory("kernwright", nbytes)
        self.bytes = torch.frombuffer(mmap.mmap(self.fd, nbytes), dtype=torch.uint8)

    def close(self) -> None:
        """Give the descriptor back; the memory goes with its last mapping."""
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1

    def discard(self) -> None:
        """The same: it never serves again."""
        self.close()
