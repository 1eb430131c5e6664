meta:
  id: kafka_uvarint
  title: Apache Kafka unsigned variable-length integer, up to 32 bits
  application: Apache Kafka
  xref:
    wikidata: Q6457577
  tags:
    - serialization
  license: CC0-1.0
  ks-version: '0.11'
doc: |
  An unsigned 32-bit integer in 1 to 5 bytes: `UNSIGNED_VARINT` in Kafka's
  protocol guide, used by the flexible versions of its messages (KIP-482). The
  encoding is that of `kafka_varint`, but for the zigzag.
doc-ref: https://kafka.apache.org/protocol#protocol_types
-primitive: {encoding: base128, bits: 32, max-bytes: 5}
-webide-representation: '{value:dec}'
seq:
  - id: groups
    type: u1
    repeat: until
    repeat-until: _ < 0x80 or groups.size == 4
    -ours: true
    doc: Seven bits each, and on top a flag that says that another byte follows.
  - id: last_group
    type: u1
    valid:
      max: 0x7f
    if: has_last_group
    -ours: true
    doc: |
      The 5th byte, which has no flag to continue. Only its lowest 4 bits
      count; readers ignore the other three, writers leave them clear.
instances:
  has_last_group:
    value: groups.last >= 0x80
    doc: Whether there is a 5th byte.
  low_bits:
    value: >-
      ((groups[0] & 0x7f).as<s4>
      + ((groups.size > 1 ? groups[1] : 0) & 0x7f).as<s4> * 0x80
      + ((groups.size > 2 ? groups[2] : 0) & 0x7f).as<s4> * 0x4000
      + ((groups.size > 3 ? groups[3] : 0) & 0x7f).as<s4> * 0x20_0000
      ).as<s8>
    doc: Bits 0 to 27.
  high_bits:
    value: '((has_last_group ? last_group : 0) & 0x0f).as<s8>'
    doc: Bits 28 to 31.
  value:
    value: >-
      (low_bits + (high_bits * (0x1000_0000).as<s8>).as<s8>).as<s8>
    doc: The integer itself.
  clamped:
    value: >-
      (value > (0x7fff_ffff).as<s8> ? (0x7fff_ffff).as<s8> : value).as<s4>
    doc: |
      The integer, or the largest of 31 bits where it is larger. For lengths and
      counts: so they lead past the end of the bytes in every language, instead
      of being negative in some.
  count:
    value: (clamped - 1).as<s4>
    doc: |
      What the integer stands for where it is a count or a length that is
      stored plus one, so that 0 can stand for null: here -1.
