// Package store is the memory of a notebook's session: a file, usually without a name and in memory, that holds objects (numbers and
// tensors), and of which every process that opens it sees one complete generation, whatever happened to the one before.
//
// Large tensors are worked on in place. Each has two places in the file: the one that processes map, and a copy. Words beside them say
// which version of the elements each holds; a version is the sequence number of the commit that made it. A commit writes a record with
// everything else (the directory, numbers, small tensors) and the version of each large tensor, and flips one word of the head to it.
// So a commit costs a record, and no copy.
//
// Before elements are changed, BeforeChange sets their word to 0. A process that ends between commits and changes leaves the current
// record with all its versions in place, and nothing is lost. One that is killed in mid-change leaves a record that asks for elements
// that are gone; the next process then goes back to the anchor, an earlier record, for whose elements BeforeChange has made copies
// first. Each commit becomes the anchor if the last one is at least 25 ms old, and two hundred times as long ago as its copies took: one
// copy per anchor and tensor, and at most a two-hundredth of the time.
//
// Tensors of a device that can share its memory (amp.Sharer) have their places there, and their words in the file: see far.go. There are
// two copies of them, so that the device makes one, behind the work of a step and with nobody waiting, while the anchor has the other: see
// later.go. Whoever made the session keeps that memory (Keeper), as it keeps the file.
//
// No order of stores but the program's is relied upon: the system stops a killed process between two instructions, and what it stored
// before is there. A crash of the machine ends the session anyway.
package store
