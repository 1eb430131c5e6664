// Package kafkarecordvectors holds test vectors of Kafka's record formats: bytes, and the records
// that a reader must read from them.
package kafkarecordvectors

import (
	"embed"
	"encoding/json"
	"slices"
)

// Files has the cases, the manifest, the schemas, README.md and the scorer, below "vectors".
//
//go:embed all:vectors
var Files embed.FS

// Vector is a case: bytes, and the result that a reader must give.
type Vector struct {
	ID      string   // name that never changes: "kafka_log/v2-gzip"
	Path    string   // path in Files without a suffix; of a log_dir, the folder
	Levels  []string // levels in which the case counts
	Needs   []string // features that a reader needs to be judged
	Names   []string `json:"files"` // files of a log_dir, by their paths in the folder
	Data    []byte   `json:"-"`     // bytes of the case; nil for a log_dir
	Verdict string   // "valid", "invalid" or "either"
	Why     string
	Records []Record // records that are delivered where damage is skipped
}

// Record is a record that a reader delivers. Bytes are in hex; nil is null.
type Record struct {
	Offset        string
	Timestamp     *string
	TimestampType *string `json:"timestamp_type"`
	Key, Value    *string
	Headers       []struct {
		Key     string
		Decoded *string
		Value   *string
	}
}

// Vectors returns the cases of a level, or all if it is empty, without those that need a feature in lacks.
func Vectors(level string, lacks ...string) ([]Vector, error) {
	var manifest struct{ Cases []Vector }
	if err := load("manifest.json", &manifest); err != nil {
		return nil, err
	}
	var found []Vector
	for _, v := range manifest.Cases {
		isLacking := slices.ContainsFunc(v.Needs, func(name string) bool { return slices.Contains(lacks, name) })
		if isLacking || level != "" && !slices.Contains(v.Levels, level) {
			continue
		}
		if err := load(v.Path+".json", &v); err != nil {
			return nil, err
		}
		if v.Names == nil {
			data, err := Files.ReadFile("vectors/" + v.Path + ".bin")
			if err != nil {
				return nil, err
			}
			v.Data = data
		}
		v.Path = "vectors/" + v.Path
		found = append(found, v)
	}
	return found, nil
}

func load(name string, into any) error {
	data, err := Files.ReadFile("vectors/" + name)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, into)
}
