<?php

namespace KafkaFormats;

/**
 * A batch or a message, or bytes that are none. It has no records unless all of it is sound: half a batch is no batch.
 */
final class LogEntry
{
    /**
     * @param string $kind `batch`, `message`; `damaged`, and $problem says why; `cut`, where the end of the file cuts an entry
     *     off; `zeros`, which a broker allocated and did not fill
     * @param list<LogRecord> $records
     */
    public function __construct(
        public readonly int $position,
        public readonly int $size,
        public readonly string $kind,
        public readonly array $records = [],
        public readonly \KafkaRecordBatch|\KafkaMessage|null $parsed = null,
        public readonly ?string $problem = null,
    ) {
    }
}
