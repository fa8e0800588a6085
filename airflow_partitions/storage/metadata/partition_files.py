"""Files of a stored partition."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import attrs

from airflow_partitions.storage.metadata.partition_metadata import PartitionMetadata


@attrs.frozen
class PartitionFiles:
    """What is in a partition.

    :ivar base: path of the folder that the names of the files start from.
    :ivar files: path below *base* to size in bytes, sorted.
    :ivar metadata: what the partition says about itself, if it was published by us.
    :ivar in_folder: whether *base* is a folder with these files and no others, so that a reader may be given it.
    """

    base: str
    files: Mapping[str, int]
    metadata: PartitionMetadata | None = None
    in_folder: bool = attrs.field(default=False, eq=False)

    @property
    def sizes(self) -> dict[str, int]:
        """Path of each file to its size in bytes."""
        return {f"{self.base}/{name}": size for name, size in self.files.items()}

    def is_in(self, other: PartitionFiles) -> bool:
        """Whether all of this content is in the *other* one, which may have moved, got more files or an index."""
        return _publication(self) == _publication(other) and self.files.items() <= other.files.items()

    def by_member(self, directory: str, members: Sequence[str]) -> dict[str, PartitionFiles]:
        """What is in each of *members* of the partition in *directory*, or in all of it, by the names as they are."""
        content = attrs.evolve(self, in_folder=False)
        return {member: content.of_member(directory, member) for member in members} or {"": content}

    def of_member(self, directory: str, member: str) -> PartitionFiles:
        """What is in one *member* of the partition in *directory*."""
        names = {}
        for name in self.files:
            below = name.rpartition(f"{directory}/")[2]
            if below.startswith(f"{member}/"):
                names[name] = below.removeprefix(f"{member}/") if self.in_folder else name
        files = {new: self.files[name] for name, new in names.items()}
        metadata = None if self.metadata is None else self.metadata.of_member(member, names, sum(files.values()))
        base = f"{self.base}/{member}" if self.in_folder else self.base
        return attrs.evolve(self, base=base, files=files, metadata=metadata)


def _publication(content: PartitionFiles) -> PartitionMetadata | None:
    """What its commit said about *content*, ``None`` if there was none: an index may be built later."""
    metadata = content.metadata
    return None if metadata is None or not metadata.commit else attrs.evolve(metadata, index={})
