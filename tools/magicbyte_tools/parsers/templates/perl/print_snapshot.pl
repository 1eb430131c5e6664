# Print the producers in a producer snapshot: perl -Ilib print_snapshot.pl FILE.snapshot

use strict;
use warnings;
use KafkaProducerSnapshot;

my $snapshot = KafkaProducerSnapshot->from_file($ARGV[0]) or die "$ARGV[0]: $!\n";
$snapshot->version() == 1 or die "$ARGV[0]: version " . $snapshot->version() . "\n";
for my $producer (@{$snapshot->producers()}) {
    printf("producer %d epoch %d: last offset %d at %d\n",
        $producer->producer_id(), $producer->epoch(),
        $producer->last_offset(), $producer->timestamp());
}
