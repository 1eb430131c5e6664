"""Compares spec/messages with the message classes of a Kafka release. Not in the wheel."""
