<?php

namespace KafkaFormats;

/**
 * Decompression of what Kafka's producers and brokers compress: zlib is PHP's own; snappy, LZ4 and zstd are the system's
 * C libraries, called by FFI.
 */
final class Codecs
{
    private const XERIAL = "\x82SNAPPY\0";
    private const LIBRARIES = [
        'lz4' => ['liblz4.so.1', 'int LZ4_decompress_safe(const char *, char *, int, int);'],
        'snappy' => ['libsnappy.so.1', 'int snappy_uncompress(const char *, size_t, char *, size_t *);
            int snappy_uncompressed_length(const char *, size_t, size_t *);'],
        'zstd' => ['libzstd.so.1', 'typedef struct { const void *src; size_t size; size_t pos; } In;
            typedef struct { void *dst; size_t size; size_t pos; } Out;
            void *ZSTD_createDStream(void); size_t ZSTD_freeDStream(void *);
            size_t ZSTD_decompressStream(void *, Out *, In *);
            unsigned ZSTD_isError(size_t); const char *ZSTD_getErrorName(size_t);'],
    ];

    /** @var array<string, \FFI> */
    private static array $loaded = [];

    /**
     * Returns the function of each codec, by its number. A function is called with the compressed bytes, the magic of the
     * entry and the most bytes that the result may have; it returns the bytes or throws.
     *
     * @return array<int, callable(string, int, int): string>
     */
    public static function all(): array
    {
        return [
            1 => self::gunzip(...),
            2 => self::unsnappy(...),
            3 => self::unlz4(...),
            4 => self::unzstd(...),
        ];
    }

    private static function library(string $name): \FFI
    {
        [$file, $functions] = self::LIBRARIES[$name];
        return self::$loaded[$name] ??= \FFI::cdef($functions, $file);
    }

    private static function within(string $content, int $have, int $limit): string
    {
        if ($have + strlen($content) > $limit) {
            throw new \RangeException("more than $limit bytes decompressed, which is the limit");
        }
        return $content;
    }

    /** Members that follow one another are one stream; other bytes behind a member are ignored. */
    private static function gunzip(string $payload, int $magic, int $limit): string
    {
        $output = '';
        for ($start = 0; ; $start += $read) {
            $member = inflate_init(ZLIB_ENCODING_GZIP);
            for ($at = $start; inflate_get_status($member) !== ZLIB_STREAM_END; $at += 4096) {
                if ($at >= strlen($payload)) {
                    throw new \RangeException('gzip: the payload ends inside a member');
                }
                $content = @inflate_add($member, substr($payload, $at, 4096), ZLIB_SYNC_FLUSH);
                if ($content === false) {
                    throw new \RangeException('gzip: the payload is not valid');
                }
                $output .= self::within($content, strlen($output), $limit);
            }
            $read = inflate_get_read_len($member);
            $next = substr($payload, $start + $read);
            if (strlen($next) < 19 || !str_starts_with($next, "\x1f\x8b\x08")) {
                return $output;
            }
        }
    }

    /** One raw block, or the chunks of xerial's snappy-java, which Java clients write. */
    private static function unsnappy(string $payload, int $magic, int $limit): string
    {
        $size = strlen($payload);
        if ($size < 16 || !str_starts_with($payload, self::XERIAL)) {
            return self::snappyBlock($payload, $limit);
        }
        $output = '';
        $at = 16;
        while ($size - $at >= 4) {
            if ($size - $at >= 16 && substr($payload, $at, 8) === self::XERIAL) {
                if (self::signed(unpack('N', $payload, $at + 8)[1]) < 1) {
                    throw new \RangeException('snappy: another stream of a version that does not exist');
                }
                $at += 16;
                continue;
            }
            $length = self::signed(unpack('N', $payload, $at)[1]);
            $at += 4;
            if ($length < 0 || $length > $size - $at) {
                throw new \RangeException("snappy: a chunk of $length bytes; " . ($size - $at) . ' are left');
            }
            $output .= self::snappyBlock(substr($payload, $at, $length), $limit - strlen($output));
            $at += $length;
        }
        if ($at !== $size) {
            throw new \RangeException('snappy: the payload ends inside the length of a chunk');
        }
        return $output;
    }

    private static function signed(int $word): int
    {
        return $word >= 0x80000000 ? $word - 0x100000000 : $word;
    }

    /** Compares the size that a block states with the limit and with what its bytes can hold, then decompresses. */
    private static function snappyBlock(string $block, int $limit): string
    {
        $library = self::library('snappy');
        $size = $library->new('size_t');
        $length = strlen($block);
        if ($library->snappy_uncompressed_length($block, $length, \FFI::addr($size)) !== 0) {
            throw new \RangeException('snappy: the block states no size');
        }
        $stated = $size->cdata;
        if ($stated > $limit || $stated > 22 * $length) { // three bytes stand for 64 at most
            throw new \RangeException(
                "snappy: $length bytes that state $stated decompressed; the limit is $limit"
            );
        }
        $output = $library->new('char[' . max(1, $stated) . ']');
        if ($library->snappy_uncompress($block, $length, $output, \FFI::addr($size)) !== 0) {
            throw new \RangeException('snappy: the block is not valid');
        }
        return \FFI::string($output, $size->cdata);
    }

    /**
     * The part of the LZ4 frame format that Kafka reads: one frame of independent blocks. Kafka wrote a wrong header
     * checksum into messages of magic 0 (KAFKA-3160), so it is not looked at there; size and checksum of the
     * content never are.
     */
    private static function unlz4(string $payload, int $magic, int $limit): string
    {
        $size = strlen($payload);
        if ($size < 7 || !str_starts_with($payload, "\x04\x22\x4d\x18")) {
            throw new \RangeException('lz4: this is not an LZ4 frame');
        }
        [$flags, $descriptor] = [ord($payload[4]), ord($payload[5])];
        if (($flags & 0xE3) !== 0x60 || ($descriptor & 0x8F) !== 0 || $descriptor >> 4 < 4) {
            throw new \RangeException('lz4: a frame descriptor that Kafka does not read');
        }
        $most = 1 << (8 + 2 * ($descriptor >> 4));
        $behind = ($flags & 0x10) !== 0 ? 4 : 0;
        $header = ($flags & 0x08) !== 0 ? 14 : 6;
        if ($header >= $size) {
            throw new \RangeException('lz4: the payload ends inside the header');
        }
        $hash = fn(string $data): string => hash('xxh32', $data, true);
        if ($magic > 0 && $payload[$header] !== $hash(substr($payload, 4, $header - 4))[2]) {
            throw new \RangeException('lz4: wrong header checksum');
        }
        $output = '';
        for ($at = $header + 1; $size - $at >= 4; ) {
            $word = unpack('V', $payload, $at)[1];
            $length = $word & 0x7FFFFFFF;
            $at += 4;
            if ($length === 0) {
                if (($flags & 0x04) !== 0 && $size - $at < 4) {
                    throw new \RangeException('lz4: the payload ends before the checksum of the content');
                }
                return $output;
            }
            if ($length > $most || $length + $behind > $size - $at) {
                throw new \RangeException("lz4: a block of $length bytes; " . ($size - $at) . ' are left');
            }
            $block = substr($payload, $at, $length);
            $at += $length;
            if ($behind && strrev(substr($payload, $at, 4)) !== $hash($block)) {
                throw new \RangeException('lz4: wrong block checksum');
            }
            $at += $behind;
            if ($word >> 31 === 0) {
                $block = self::lz4Block($block, min($most, 255 * $length));
            }
            if ($block === '') { // Kafka takes an empty block for the end
                return $output;
            }
            $output .= self::within($block, strlen($output), $limit);
        }
        throw new \RangeException('lz4: the payload has no end mark');
    }

    private static function lz4Block(string $block, int $most): string
    {
        $library = self::library('lz4');
        $output = $library->new("char[$most]");
        $size = $library->LZ4_decompress_safe($block, $output, strlen($block), $most);
        if ($size < 0) {
            throw new \RangeException('lz4: the block is not valid');
        }
        return \FFI::string($output, $size);
    }

    /** Frames that follow one another are one stream. */
    private static function unzstd(string $payload, int $magic, int $limit): string
    {
        $library = self::library('zstd');
        $stream = $library->ZSTD_createDStream();
        try {
            return self::zstdFrames($library, $stream, $payload, $limit);
        } finally {
            $library->ZSTD_freeDStream($stream);
        }
    }

    private static function zstdFrames(\FFI $library, \FFI\CData $stream, string $payload, int $limit): string
    {
        $length = strlen($payload);
        $source = $library->new('char[' . max(1, $length) . ']');
        \FFI::memcpy($source, $payload, $length);
        $piece = $library->new('char[131072]');
        [$in, $out] = [$library->new('In'), $library->new('Out')];
        [$in->src, $in->size, $in->pos] = [\FFI::addr($source), $length, 0];
        $output = '';
        $hint = 1;
        $isFull = false;
        while ($in->pos < $length || $isFull) {
            [$out->dst, $out->size, $out->pos] = [\FFI::addr($piece), 131072, 0];
            $hint = $library->ZSTD_decompressStream($stream, \FFI::addr($out), \FFI::addr($in));
            if ($library->ZSTD_isError($hint)) {
                throw new \RangeException('zstd: ' . $library->ZSTD_getErrorName($hint));
            }
            $output .= self::within(\FFI::string($piece, $out->pos), strlen($output), $limit);
            $isFull = $hint !== 0 && $out->pos === $out->size;
        }
        if ($hint !== 0) {
            throw new \RangeException('zstd: the payload ends inside a frame');
        }
        return $output;
    }
}
