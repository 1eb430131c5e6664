module kafkarecordvectors

go 1.21
