<?php

// Print the records of log segments as lines of JSON: php print_records.php FILE.log...
// Without arguments, the names of files are read from standard input, and each file gives one line:
// {"records": [...], "problems": [...]}.

require __DIR__ . '/vendor/autoload.php';

use KafkaFormats\LogReader;
use KafkaFormats\LogRecord;

function hexed(?string $data): ?string
{
    return $data === null ? null : bin2hex($data);
}

function toRow(LogRecord $record): array
{
    $row = [
        'offset' => (string) $record->offset,
        'timestamp' => $record->timestamp === null ? null : (string) $record->timestamp,
        'timestamp_type' => $record->timestampType,
        'key' => hexed($record->key),
        'value' => hexed($record->value),
        'headers' => array_map(fn($header) => ['key' => bin2hex($header[0]), 'value' => hexed($header[1])], $record->headers),
    ];
    if ($record->isControl) { // $record->control has the rest
        $row['control_type'] = (unpack('n', $record->key, 2)[1] ^ 0x8000) - 0x8000;
    }
    return $row;
}

function json(array $value): string
{
    return json_encode($value, JSON_INVALID_UTF8_SUBSTITUTE | JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE);
}

/** @return list<array> the problems */
function read(string $name, callable $print): array
{
    $problems = [];
    foreach ((new LogReader())->read($name) as $entry) {
        foreach ($entry->records as $record) {
            $print(toRow($record));
        }
        if ($entry->problem !== null) {
            $problems[] = ['position' => (string) $entry->position, 'message' => $entry->problem];
        }
    }
    return $problems;
}

$names = array_slice($argv, 1);
while (!$names && ($name = fgets(STDIN)) !== false) {
    $records = [];
    $problems = read(rtrim($name, "\n"), function (array $row) use (&$records): void {
        $records[] = $row;
    });
    echo json(['records' => $records, 'problems' => $problems]), "\n";
}
$status = 0;
foreach ($names as $name) {
    $problems = read($name, function (array $row): void {
        echo json($row), "\n";
    });
    foreach ($problems as $problem) {
        fwrite(STDERR, "$name: at byte {$problem['position']}: {$problem['message']}\n");
        $status = 1;
    }
}
exit($status);
