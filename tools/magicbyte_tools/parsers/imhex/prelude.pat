// The value of an integer in groups of 7 bits, the least significant first.
fn base128(ref auto groups, u128 bits) {
    u128 value = 0;
    for (u128 group = 0, group < sizeof(groups), group += 1)
        value = value | (u128(groups[group] & 0x7f) << (7 * group));
    return value & ((u128(1) << bits) - 1);
};

fn zigzag(u128 value) {
    s128 half = value >> 1;
    return (value & 1) != 0 ? -half - 1 : half;
};

fn base128_32(ref auto number) {
    return base128(number.groups, 32);
};

fn zigzag_32(ref auto number) {
    return zigzag(base128(number.groups, 32));
};

fn zigzag_64(ref auto number) {
    return zigzag(base128(number.groups, 64));
};

// Whether the integer that begins at `start` has another byte at the cursor.
fn goes_on(u128 start, u128 most) {
    return $ == start || ($ - start < most && (std::mem::read_unsigned($ - 1, 1) & 0x80) != 0);
};

// A length that is stored, once it was compared with the bytes that are left.
fn bounded(s128 size, s128 end) {
    if (size < 0 || size > end - s128($))
        std::error(std::format("{} bytes at byte {}, where {} are left", size, $, end - s128($)));
    return size;
};

fn end_of_region(u128 at, u128 end, str field) {
    if (at > end)
        std::error(std::format("{}: its fields end at byte {}, its size at byte {}", field, at, end));
};

fn bytes_up_to(u8 byte, u128 end) {
    u128 at = $;
    while (at < end && std::mem::read_unsigned(at, 1) != byte)
        at += 1;
    if (at >= end)
        std::error(std::format("no byte {:#04x} from byte {} on", byte, $));
    return at - $;
};

fn bytes_before_zeros(u128 start, u128 end) {
    u128 at = end;
    while (at >= start + 16 && std::mem::read_unsigned(at - 16, 16) == 0)
        at -= 16;
    while (at > start && std::mem::read_unsigned(at - 1, 1) == 0)
        at -= 1;
    return at - start;
};
