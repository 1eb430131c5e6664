module example

go 1.21

require kafkarecordvectors v1.1.0

replace kafkarecordvectors => ../..
