// The reader of franz-go, as its client reads what a fetch brought: checksums verified, buffers for payloads and
// records pooled. One line in, one pass over a file, one line out; serve.py has the same protocol.
//
// A line is FILE, MODE, VIA and THREADS with tabs between. MODE: columns, into slices that grow, and are emptied every
// 4 MiB; check, the same, and their checksum. VIA is memory, and one goroutine reads.
//
// The answer: rows, checksum, nanoseconds of CPU of this thread and of the process, nanoseconds by the clock.
package main

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"log"
	"os"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

const (
	// The bytes of a fetch for one partition, as a consumer asks for them by default.
	fetchBytes = 1 << 20

	// RUSAGE_THREAD, of which package syscall has no name.
	rusageThread = 1
)

type reader struct {
	path         string
	data         []byte
	columns      columns
	pool         *pool
	decompressor kgo.Decompressor
}

// pass reads the whole file, and returns how many rows it has.
func (r *reader) pass() (int64, error) {
	var rows int64
	r.columns.begin()
	options := kgo.ProcessFetchPartitionOpts{Topic: "bench", Pools: []kgo.Pool{r.pool}}
	for begin := 0; begin < len(r.data); {
		end := fetchEnd(r.data, begin)
		partition := kmsg.FetchResponseTopicPartition{RecordBatches: r.data[begin:end]}
		fetched, next := kgo.ProcessFetchPartition(options, &partition, r.decompressor, nil)
		if fetched.Err != nil {
			return 0, fmt.Errorf("byte %d: %w", begin, fetched.Err)
		}
		for _, record := range fetched.Records {
			r.columns.add(record)
		}
		rows += int64(len(fetched.Records))
		for _, record := range fetched.Records {
			record.Recycle()
		}
		r.columns.emptyIfFull()
		begin, options.Offset = end, next
	}
	r.columns.empty()
	return rows, nil
}

// fetchEnd returns where the whole entries of a fetch from begin end, of which there is at least one.
func fetchEnd(data []byte, begin int) int {
	end := begin
	for len(data)-end >= 12 {
		next := end + 12 + int(binary.BigEndian.Uint32(data[end+8:]))
		if end > begin && next-begin > fetchBytes {
			break
		}
		end = next
	}
	return min(end, len(data))
}

func (r *reader) answer(line string) (string, error) {
	words := strings.Split(line, "\t")
	path, mode, via := words[0], words[1], words[2]
	if mode != "columns" && mode != "check" || via != "memory" {
		return "", fmt.Errorf("mode %s via %s: expected columns or check, via memory", mode, via)
	}
	if path != r.path {
		data, err := os.ReadFile(path)
		if err != nil {
			return "", err
		}
		r.data, r.path = data, path
	}
	wall, process, thread := time.Now(), cpu(syscall.RUSAGE_SELF), cpu(rusageThread)
	rows, err := r.pass()
	if err != nil {
		return "", err
	}
	thread, process = cpu(rusageThread)-thread, cpu(syscall.RUSAGE_SELF)-process
	checksum := int64(0)
	if mode == "check" {
		checksum = r.columns.checksum()
	}
	return fmt.Sprint(rows, checksum, thread, process, time.Since(wall).Nanoseconds()), nil
}

// cpu returns the nanoseconds that who has used; where threads are not told apart, those of the process.
func cpu(who int) int64 {
	var usage syscall.Rusage
	if syscall.Getrusage(who, &usage) != nil && who != syscall.RUSAGE_SELF {
		return cpu(syscall.RUSAGE_SELF)
	}
	return usage.Utime.Nano() + usage.Stime.Nano()
}

func main() {
	runtime.LockOSThread()
	pool := &pool{}
	r := reader{pool: pool, decompressor: kgo.DefaultDecompressor(pool)}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		answer, err := r.answer(lines.Text())
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(answer)
	}
}
