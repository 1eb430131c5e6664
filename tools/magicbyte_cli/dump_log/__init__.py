"""What Kafka's own kafka-dump-log prints, line by line, in the form of any of its releases."""
