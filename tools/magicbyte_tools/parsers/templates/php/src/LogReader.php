<?php

namespace KafkaFormats;

/**
 * Reads the entries of a log segment one at a time, and decompresses them.
 *
 * An entry that cannot be read is `damaged`, and the next one is looked for where its length says. Where the length itself
 * cannot be right, the rest of the file is one damaged entry.
 */
final class LogReader
{
    /**
     * @param array<int, callable(string, int, int): string>|null $codecs what to decompress with, by the number of the codec
     * @param int $maxEntryBytes largest entry as it is stored
     * @param int $maxBatchBytes largest payload of an entry, decompressed
     */
    public function __construct(
        private readonly ?array $codecs = null,
        private readonly int $maxEntryBytes = 1 << 30,
        private readonly int $maxBatchBytes = 256 << 20,
    ) {
    }

    /** @return \Generator<LogEntry> */
    public function read(string $path): \Generator
    {
        $file = fopen($path, 'rb');
        if ($file === false) {
            throw new \RuntimeException("cannot open $path");
        }
        try {
            $end = fstat($file)['size'];
            for ($position = 0; $position < $end; $position += $entry->size) {
                $entry = $this->entry($file, $position, $end - $position);
                yield $entry;
            }
        } finally {
            fclose($file);
        }
    }

    /** @param resource $file */
    private static function bytes($file, int $position, int $size): string
    {
        fseek($file, $position);
        $data = stream_get_contents($file, $size);
        if ($data === false || strlen($data) < $size) {
            throw new \RuntimeException('the file became shorter');
        }
        return $data;
    }

    /** @param resource $file */
    private static function onlyZeros($file, int $position, int $left): bool
    {
        for ($at = 0; $at < $left; $at += 65536) {
            if (trim(self::bytes($file, $position + $at, min(65536, $left - $at)), "\0") !== '') {
                return false;
            }
        }
        return true;
    }

    /** @param resource $file */
    private function entry($file, int $position, int $left): LogEntry
    {
        $head = self::bytes($file, $position, min($left, 17));
        $length = $left < 12 ? 0 : self::int32($head, 8);
        if ($length === 0 && self::onlyZeros($file, $position, $left)) {
            return new LogEntry($position, $left, 'zeros');
        }
        if ($left >= 12 && $length < 14) {
            $problem = "an entry of $length bytes; expected 14 or more";
            return new LogEntry($position, $left, 'damaged', problem: $problem);
        }
        if ($left < 17) {
            return new LogEntry($position, $left, 'cut');
        }
        $size = min(12 + $length, $left);
        $magic = (ord($head[16]) ^ 0x80) - 0x80;
        if ($magic < 0 || $magic > 2) {
            $problem = "magic $magic; expected 0, 1 or 2";
            return new LogEntry($position, $size, 'damaged', problem: $problem);
        }
        if (12 + $length > $left) {
            return new LogEntry($position, $left, 'cut');
        }
        if ($size > $this->maxEntryBytes) {
            $problem = "an entry of $size bytes; the limit is {$this->maxEntryBytes}";
            return new LogEntry($position, $size, 'damaged', problem: $problem);
        }
        $data = self::bytes($file, $position, $size);
        try {
            [$kind, $parsed, $records] = $magic === 2 ? $this->batch($data) : $this->message($data);
            return new LogEntry($position, $size, $kind, $records, $parsed);
        } catch (\Exception | \ValueError $error) {
            return new LogEntry($position, $size, 'damaged', problem: $error->getMessage());
        }
    }

    private static function int32(string $data, int $at): int
    {
        return (unpack('N', $data, $at)[1] ^ 0x80000000) - 0x80000000;
    }

    /** Adds as Java does, which wraps: PHP makes a float of a sum that is too large. */
    private static function sum(int $one, int $other): int
    {
        $sum = $one + $other;
        if (is_int($sum)) {
            return $sum;
        }
        $low = ($one & 0xFFFFFFFF) + ($other & 0xFFFFFFFF);
        return ($one >> 32) + ($other >> 32) + ($low >> 32) << 32 | $low & 0xFFFFFFFF;
    }

    private static function verify(string $algorithm, string $covered, string $stored): void
    {
        $computed = hash($algorithm, $covered, true);
        if ($computed !== $stored) {
            [$found, $right] = [bin2hex($stored), bin2hex($computed)];
            throw new \RangeException("stored checksum $found, computed $right");
        }
    }

    private function decompress(int $codec, int $magic, string $payload): string
    {
        $codecs = $this->codecs ?? Codecs::all();
        if (!isset($codecs[$codec]) || ($codec === 4 && $magic < 2)) {
            throw new \RangeException("codec $codec in magic $magic; expected one that Kafka has there");
        }
        return $codecs[$codec]($payload, $magic, $this->maxBatchBytes);
    }

    /** @return array{string, \KafkaRecordBatch, list<LogRecord>} */
    private function batch(string $data): array
    {
        if (strlen($data) < 61) {
            throw new \RangeException('a batch of ' . strlen($data) . ' bytes; expected 61 or more');
        }
        self::verify('crc32c', substr($data, 21), substr($data, 17, 4));
        $batch = new \KafkaRecordBatch(new \KafkaBoundedStream($data));
        $attributes = $batch->attributes();
        $count = $batch->numRecords();
        $records = [];
        if ($batch->payload() !== null) {
            foreach ($batch->payload()->records() as $record) {
                $records[] = self::batchRecord($batch, $record);
            }
        } elseif ($count > 0) {
            $payload = $this->decompress($attributes->codec(), 2, $batch->compressedPayload());
            $stream = new \KafkaBoundedStream($payload);
            while (count($records) < $count) {
                $record = new \KafkaRecord($attributes->isControl(), $stream);
                $records[] = self::batchRecord($batch, $record);
            }
            if (!$stream->isEof()) {
                throw new \RangeException("bytes behind the last of $count records");
            }
        }
        return ['batch', $batch, $records];
    }

    private static function batchRecord(\KafkaRecordBatch $batch, \KafkaRecord $record): LogRecord
    {
        [$body, $attributes] = [$record->body(), $batch->attributes()];
        if (!$body->_io()->isEof() || $body->numHeaders()->value() < 0) {
            throw new \RangeException('a record that its fields do not fill');
        }
        $isControl = (bool) $attributes->isControl();
        if ($isControl && (strlen($body->key() ?? '') < 4 || ord($body->key()[0]) > 127)) {
            throw new \RangeException('a control record whose key has no version and type');
        }
        $isAppendTime = $attributes->timestampType() === \KafkaRecordBatch\TimestampTypes::LOG_APPEND_TIME;
        return new LogRecord(
            self::sum($batch->baseOffset(), $body->offsetDelta()->value()),
            $isAppendTime
                ? $batch->maxTimestamp()
                : self::sum($batch->baseTimestamp(), $body->timestampDelta()->value()),
            $isAppendTime ? 'LogAppendTime' : 'CreateTime',
            $body->key(),
            $body->value(),
            array_map(fn($header) => [$header->key(), $header->value()], $body->headers()),
            $isControl,
            $isControl ? self::control($body) : null,
        );
    }

    private static function control(\KafkaRecord\RecordBody $body): ?\KafkaControlRecord
    {
        try {
            return $body->controlRecord();
        } catch (\Exception) {
            return null; // a type or version that is not known
        }
    }

    private static function readMessage(string $data): \KafkaMessage
    {
        self::verify('crc32b', substr($data, 16), substr($data, 12, 4));
        return new \KafkaMessage(new \KafkaBoundedStream($data));
    }

    /** @return array{string, \KafkaMessage, list<LogRecord>} */
    private function message(string $data): array
    {
        $entry = self::readMessage($data);
        [$message, $offset] = [$entry->message(), $entry->offset()];
        $codec = $message->attributes()->codec();
        if ($codec === 0) {
            return ['message', $entry, [self::messageRecord($entry, $entry, $offset)]];
        }
        if ($message->value() === null) {
            throw new \RangeException('a wrapper message without a value');
        }
        $inner = self::innerMessages($this->decompress($codec, $message->magic(), $message->value()));
        $base = 0;
        if ($message->magic() === 1 && $offset !== 0) {
            $last = end($inner)->offset(); // offsets inside count from the first message
            if ($offset < $last) {
                throw new \RangeException("offset $offset of a wrapper; in it is $last");
            }
            $base = self::sum($offset, -$last);
        }
        $toRecord = fn($one) => self::messageRecord($entry, $one, self::sum($base, $one->offset()));
        return ['message', $entry, array_map($toRecord, $inner)];
    }

    /**
     * Returns the messages in a wrapper; one that is cut off at the end is left out, as in Kafka.
     *
     * @return list<\KafkaMessage>
     */
    private static function innerMessages(string $payload): array
    {
        $messages = [];
        for ($at = 0; strlen($payload) - $at >= 12; $at += 12 + $length) {
            $length = self::int32($payload, $at + 8);
            if ($length < 14) {
                throw new \RangeException("a message of $length bytes in a wrapper; expected 14 or more");
            }
            if ($length > strlen($payload) - $at - 12) {
                break;
            }
            $message = self::readMessage(substr($payload, $at, 12 + $length));
            if ($message->message()->attributes()->codec() !== 0) {
                throw new \RangeException('a wrapper message in a wrapper message');
            }
            $messages[] = $message;
        }
        if (!$messages) {
            throw new \RangeException('a wrapper message that holds no message');
        }
        return $messages;
    }

    private static function messageRecord(\KafkaMessage $wrapper, \KafkaMessage $entry, int $offset): LogRecord
    {
        [$outer, $message] = [$wrapper->message(), $entry->message()];
        $isAppendTime = $outer->magic() > 0
            && $outer->attributes()->timestampType() === \KafkaMessage\TimestampTypes::LOG_APPEND_TIME;
        $timestamp = -1;
        if ($message->magic() > 0) {
            $timestamp = $isAppendTime ? $outer->timestamp() : $message->timestamp();
        }
        $type = $isAppendTime ? 'LogAppendTime' : 'CreateTime';
        return new LogRecord(
            $offset,
            $timestamp,
            $outer->magic() > 0 ? $type : null,
            $message->key(),
            $message->value(),
        );
    }
}
