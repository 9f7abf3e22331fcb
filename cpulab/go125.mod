module cpulab

go 1.25
