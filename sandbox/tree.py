"""Reads a hostile folder of this host by descriptors, so that no link in it is ever followed."""

import contextlib
import errno
import os
from collections.abc import Callable, Iterator
from pathlib import PurePosixPath

from sandbox.keep import MAX_DEPTH, Entry, Keeper, Readable, no_bytes
from sandbox.names import clean_name

Found = os.DirEntry[str]


def read_tree(root: int, keeper: Keeper) -> None:
    """Give a keeper every entry below an open folder, in the order of names, following no link.

    Args: root: descriptor of the folder; the caller closes it. The tree must stand still meanwhile.
    Raises: OSError: the host could not read it.
    """
    for parts, parent, found in _walk(root):
        if found.is_symlink():
            keeper.take(Entry(parts, "link", target=os.readlink(parts[-1], dir_fd=parent)), no_bytes)
        elif found.is_file(follow_symlinks=False):
            size = found.stat(follow_symlinks=False).st_size
            keeper.take(Entry(parts, "file", size=size), _opener(parts[-1], parent))
        elif len(parts) > MAX_DEPTH:
            keeper.note(f"{clean_name(parts[:2])}/...: not kept below {MAX_DEPTH} folders", truncated=True)
        else:
            keeper.take(Entry(parts, "other", what="device, fifo or socket"), no_bytes)


def _opener(name: bytes, parent: int) -> Callable[[], contextlib.AbstractContextManager[Readable]]:
    """Return what opens one plain file of a folder."""

    def open_file() -> contextlib.AbstractContextManager[Readable]:
        return os.fdopen(os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=parent), "rb")

    return open_file


def _walk(root: int) -> Iterator[tuple[tuple[bytes, ...], int, Found]]:
    """Yield (path, descriptor of its folder, entry) of everything that is not a folder to go into."""
    stack: list[tuple[tuple[bytes, ...], int, Iterator[Found]]] = [((), os.dup(root), _listed(root))]
    try:
        while stack:
            folder, handle, names = stack[-1]
            found = next(names, None)
            if found is None:
                stack.pop()
                os.close(handle)
                continue
            parts = (*folder, os.fsencode(found.name))
            if found.is_dir(follow_symlinks=False) and len(parts) <= MAX_DEPTH:
                flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
                inner = os.open(parts[-1], flags, dir_fd=handle)
                stack.append((parts, inner, _listed(inner)))
            else:
                yield parts, handle, found
    finally:
        for _, handle, _names in stack:
            os.close(handle)


def _listed(handle: int) -> Iterator[Found]:
    """Return the entries of an open folder, by name."""
    with os.scandir(handle) as entries:
        return iter(sorted(entries, key=lambda found: os.fsencode(found.name)))


def open_below(root: int, path: PurePosixPath) -> int | None:
    """Return a descriptor of a folder below an open one, following no link; None when there is no such folder."""
    handle = os.dup(root)
    for part in path.relative_to("/").parts if path.is_absolute() else path.parts:
        try:
            flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
            inner = os.open(part, flags, dir_fd=handle)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as exc:
            if exc.errno == errno.ELOOP:
                return None
            raise
        finally:
            os.close(handle)
        handle = inner
    return handle
