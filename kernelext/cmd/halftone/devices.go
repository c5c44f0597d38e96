package main

// For train --device cuda:0 and auto. A program chooses its devices, as a cell does; no other package of kernelext links them. The driver is
// loaded only when a device is opened.
import _ "github.com/halftone-ml/halftone/cudart"
