<?php

/** Stream that compares a length with the bytes left before memory is reserved for it. */
final class KafkaBoundedStream extends \Kaitai\Struct\Stream
{
    protected function readBytesNotAligned(int $numberOfBytes): string
    {
        $left = $this->size() - $this->pos();
        if ($numberOfBytes < 0 || $numberOfBytes > $left) {
            throw new \RangeException("$numberOfBytes bytes are stated; $left are left");
        }
        return parent::readBytesNotAligned($numberOfBytes);
    }
}
