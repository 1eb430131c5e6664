<?php
// Print the entries and records of a log segment: php print_log.php FILE.log

require __DIR__ . '/vendor/autoload.php';

function text(?string $data): string
{
    return $data ?? 'null';
}

function printBatch(KafkaRecordBatch $batch): void
{
    $compressed = $batch->payload() === null ? ', compressed' : '';
    echo "batch {$batch->baseOffset()}: {$batch->numRecords()} records$compressed\n";
    if ($batch->payload() === null) {
        // Decompress compressedPayload() (attributes()->codec() says how) and parse the result
        // with KafkaRecords.
        return;
    }
    $type = $batch->attributes()->timestampType();
    foreach ($batch->payload()->records() as $record) {
        $body = $record->body();
        $offset = $batch->baseOffset() + $body->offsetDelta()->value();
        $timestamp = $batch->baseTimestamp() + $body->timestampDelta()->value();
        if ($type === \KafkaRecordBatch\TimestampTypes::LOG_APPEND_TIME) {
            $timestamp = $batch->maxTimestamp();
        }
        $content = $batch->attributes()->isControl()
            ? 'control record'
            : text($body->key()) . ' ' . text($body->value());
        echo "  $offset $timestamp $content\n";
    }
}

function printMessage(KafkaMessage $entry): void
{
    $message = $entry->message();
    echo "message {$entry->offset()}: ";
    if ($message->attributes()->codec() !== \KafkaMessage\Codecs::NONE) {
        echo "compressed\n"; // decompressed, the value is a KafkaLog
        return;
    }
    $timestamp = $message->timestamp() ?? 'null';
    echo $timestamp . ' ' . text($message->key()) . ' ' . text($message->value()) . "\n";
}

foreach (KafkaLog::fromFile($argv[1])->entries() as $entry) {
    if ($entry->zeroTail() !== null) {
        echo strlen($entry->zeroTail()) . " zeros\n";
    } elseif ($entry->partial() !== null) {
        echo strlen($entry->partial()) . " bytes of an entry that was cut off\n";
    } elseif ($entry->content() instanceof KafkaRecordBatch) {
        printBatch($entry->content());
    } else {
        printMessage($entry->content());
    }
}
