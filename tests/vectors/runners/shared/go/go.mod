module answers

go 1.24
