"""Groups log.dirs into the brokers that they belong to."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from magicbyte.verification.broker._log_dir_state import LogDirState
from magicbyte.verification.broker._metadata_log import MetadataLog


@dataclass(slots=True)
class BrokerGroup:
    """The log.dirs of one broker or controller, and its metadata logs by log.dir."""

    states: list[LogDirState]
    node_id: int | None
    cluster_id: str | None
    metadata_logs: dict[str, MetadataLog]

    @property
    def is_kraft(self) -> bool:
        return any(state.is_kraft for state in self.states)

    @property
    def directory_ids(self) -> set[str]:
        return {state.directory_id for state in self.states if state.directory_id is not None}

    @property
    def registered_ids(self) -> frozenset[str]:
        """The directory ids with which the node has registered, by its own metadata log."""
        if self.node_id is None:
            return frozenset()
        ids: frozenset[str] = frozenset()
        for metadata in self.metadata_logs.values():
            ids |= metadata.before.log_dir_ids.get(self.node_id, frozenset())
        return ids


def group_log_dirs(
    states: Sequence[LogDirState], metadata_logs: Mapping[str, MetadataLog]
) -> list[BrokerGroup]:
    """Return *states* by broker: by cluster.id and node.id, and by what metadata logs say.

    A log.dir that does not say whose it is belongs to the only broker there is, else to none of them.
    One without a cluster.id belongs to the only broker with its node.id.
    """
    by_identity: dict[tuple[str | None, int], BrokerGroup] = {}
    nameless: list[LogDirState] = []
    for state in states:
        properties = state.properties
        if properties is None or properties.node_id is None or properties.node_id < 0:
            nameless.append(state)
            continue
        identity = properties.cluster_id or None, properties.node_id
        group = by_identity.setdefault(identity, BrokerGroup([], identity[1], identity[0], {}))
        group.states.append(state)
    order = {state.path: number for number, state in enumerate(states)}
    for node_id in [node_id for cluster_id, node_id in by_identity if cluster_id is None]:
        same_node = [key for key in by_identity if key[1] == node_id and key[0] is not None]
        if len(same_node) == 1:
            joined = by_identity[same_node[0]].states
            joined += by_identity.pop((None, node_id)).states
            joined.sort(key=lambda state: order[state.path])
    groups = [copy for group in by_identity.values() for copy in _without_copies(group)]
    for group in groups:
        _add_metadata_logs(group, metadata_logs)
    groups = _merged(groups, metadata_logs)
    if nameless:
        if len(groups) != 1:
            groups.append(BrokerGroup([], None, None, {}))
        groups[-1].states.extend(nameless)
        groups[-1].states.sort(key=lambda state: order[state.path])
        _add_metadata_logs(groups[-1], metadata_logs)
    return groups


def _without_copies(group: BrokerGroup) -> Iterator[BrokerGroup]:
    """Yield *group* as one group for each copy of its log.dirs, such as backups of two dates."""
    copies: list[BrokerGroup] = []
    for state in group.states:
        for copy in copies:
            if not any(_is_copy(state, each) for each in copy.states):
                copy.states.append(state)
                break
        else:
            copies.append(BrokerGroup([state], group.node_id, group.cluster_id, {}))
    yield from copies


def _is_copy(state: LogDirState, other_state: LogDirState) -> bool:
    """Return whether two log.dirs are the same at two times: with one directory id, and mostly the same folders."""
    first, second = state.partition_folders, other_state.partition_folders
    if state.directory_id != other_state.directory_id or not first or not second:
        return False
    return 2 * len(first & second) > min(len(first), len(second))


def _add_metadata_logs(group: BrokerGroup, metadata_logs: Mapping[str, MetadataLog]) -> None:
    group.metadata_logs = {
        state.path: metadata_logs[state.path]
        for state in group.states
        if state.path in metadata_logs
    }


def _merged(
    groups: list[BrokerGroup], metadata_logs: Mapping[str, MetadataLog]
) -> list[BrokerGroup]:
    """Return *groups*, joined where the registration of one lists a log.dir of another.

    Then its `meta.properties` has a wrong node.id or cluster.id, or was copied from elsewhere.
    """
    left = list(groups)
    for group in groups:
        for absorbed in groups:
            if group is absorbed or group not in left or absorbed not in left:
                continue
            foreign_ids = absorbed.directory_ids - absorbed.registered_ids
            if group.registered_ids & foreign_ids:
                group.states += absorbed.states
                _add_metadata_logs(group, metadata_logs)
                left.remove(absorbed)
    return left


def undecided_pairs(
    groups: Sequence[BrokerGroup], keys_by_group: Mapping[int, set[tuple[str, int]]]
) -> Iterator[tuple[BrokerGroup, BrokerGroup]]:
    """Yield pairs of brokers that may be one broker, whose log.dirs disagree.

    They have the same node.id or the same cluster.id, and nothing shows that they are two: no
    partition is in both, and no registration lists the log.dirs of one alone. *keys_by_group* has topic and
    number of each partition by the number of the group.
    """
    for (first, group), (second, opposite) in combinations(enumerate(groups), 2):
        is_near = group.node_id == opposite.node_id or group.cluster_id == opposite.cluster_id
        is_unnamed = group.node_id is None or opposite.node_id is None
        if not is_near or is_unnamed or keys_by_group[first] & keys_by_group[second]:
            continue
        if any(each.metadata_logs for each in (group, opposite)):
            continue
        yield group, opposite
