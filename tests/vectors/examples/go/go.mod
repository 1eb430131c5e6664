module example

go 1.21

require kafkarecordvectors v1.0.0

replace kafkarecordvectors => ../..
