<?php

namespace KafkaFormats;

/** A record as a consumer gets it, or a control record, which consumers skip. */
final class LogRecord
{
    public readonly ?int $timestamp;

    /**
     * @param int $timestamp milliseconds since the Unix epoch; -1 becomes null
     * @param ?string $timestampType `CreateTime`, `LogAppendTime`, or null in v0
     * @param list<array{string, ?string}> $headers keys and values
     * @param ?\KafkaControlRecord $control the transaction marker or KRaft's control record; null if its type is not known
     */
    public function __construct(
        public readonly int $offset,
        int $timestamp,
        public readonly ?string $timestampType,
        public readonly ?string $key,
        public readonly ?string $value,
        public readonly array $headers = [],
        public readonly bool $isControl = false,
        public readonly ?\KafkaControlRecord $control = null,
    ) {
        $this->timestamp = $timestamp === -1 ? null : $timestamp;
    }
}
