package main

import _ "github.com/halftone-ml/halftone/cudart" // for train --device cuda:0 and auto; the driver is loaded only when a device is opened
