"""Predicts whether a broker starts with its log.dirs, and which of its partitions it then serves.

The rules come from KafkaRaftServer, LogManager, KafkaRaftLog and KafkaServer, and were confirmed by starting
brokers of 2.8, 3.9, 4.3 and 4.4 on log.dirs. No broker is needed, and nothing is written.
"""

from magicbyte.verification.broker._partition_changes import PartitionChange
from magicbyte.verification.broker._prediction import (
    BrokerInput,
    BrokerPrediction,
    BrokersPrediction,
    predict_brokers,
    read_brokers,
)
from magicbyte.verification.broker._startup_rules import known_release

__all__ = [
    "BrokerInput",
    "BrokerPrediction",
    "BrokersPrediction",
    "PartitionChange",
    "known_release",
    "predict_brokers",
    "read_brokers",
]
