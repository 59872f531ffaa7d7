// Package drive puts the same load on each target of the benchmark and takes
// the time. The time of a reply is that of its last byte, before anything is
// parsed; a line costs the driver no memory and no goroutine, so that what is
// measured is the target.
package drive
