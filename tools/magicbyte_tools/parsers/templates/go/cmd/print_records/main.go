// Command print_records prints the records of log segments as lines of JSON: print_records FILE.log...
//
// Without arguments, the names of files are read from standard input, and each file gives one line:
// {"records": [...], "problems": [...]}.
package main

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"os"
	"strconv"

	"kafkaformats"
)

type header struct {
	Key   string  `json:"key"`
	Value *string `json:"value"`
}

type row struct {
	Offset        string   `json:"offset"`
	Timestamp     *string  `json:"timestamp"`
	TimestampType *string  `json:"timestamp_type"`
	Key           *string  `json:"key"`
	Value         *string  `json:"value"`
	Headers       []header `json:"headers"`
	ControlType   *int16   `json:"control_type,omitempty"`
}

type problem struct {
	Position string `json:"position"`
	Message  string `json:"message"`
}

func hexed(data []byte) *string {
	if data == nil {
		return nil
	}
	text := hex.EncodeToString(data)
	return &text
}

func toRow(record kafkaformats.Record) row {
	out := row{
		Offset:  strconv.FormatInt(record.Offset, 10),
		Key:     hexed(record.Key),
		Value:   hexed(record.Value),
		Headers: []header{},
	}
	if record.Timestamp != nil {
		text := strconv.FormatInt(*record.Timestamp, 10)
		out.Timestamp = &text
	}
	if record.TimestampType != "" {
		out.TimestampType = &record.TimestampType
	}
	for _, each := range record.Headers {
		out.Headers = append(out.Headers, header{hex.EncodeToString(each.Key), hexed(each.Value)})
	}
	if record.IsControl { // record.Control has the rest
		kind := int16(-1)
		if len(record.Key) >= 4 {
			kind = int16(binary.BigEndian.Uint16(record.Key[2:]))
		}
		out.ControlType = &kind
	}
	return out
}

func read(name string, print func(row)) ([]problem, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	status, err := file.Stat()
	if err != nil {
		return nil, err
	}
	problems := []problem{}
	reader := kafkaformats.NewReader(file, status.Size())
	for {
		entry, err := reader.Next()
		if err == io.EOF {
			return problems, nil
		}
		if err != nil {
			return nil, err
		}
		for _, record := range entry.Records {
			print(toRow(record))
		}
		if entry.Problem != nil {
			problems = append(problems, problem{fmt.Sprint(entry.Position), entry.Problem.Error()})
		}
	}
}

func answerStdin(output *json.Encoder) {
	names := bufio.NewScanner(os.Stdin)
	for names.Scan() {
		records := []row{}
		problems, err := read(names.Text(), func(each row) { records = append(records, each) })
		if err != nil {
			log.Fatal(err)
		}
		output.Encode(map[string]any{"records": records, "problems": problems})
	}
}

func main() {
	output := json.NewEncoder(os.Stdout)
	output.SetEscapeHTML(false)
	if len(os.Args) == 1 {
		answerStdin(output)
		return
	}
	status := 0
	for _, name := range os.Args[1:] {
		problems, err := read(name, func(each row) { output.Encode(each) })
		if err != nil {
			log.Fatal(err)
		}
		for _, each := range problems {
			fmt.Fprintf(os.Stderr, "%s: at byte %s: %s\n", name, each.Position, each.Message)
			status = 1
		}
	}
	os.Exit(status)
}
