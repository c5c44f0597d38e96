package amp

import "sync"

// Go collects garbage when the heap has doubled, from 4 MB on. Small ops fill that in some milliseconds, and while a collection marks,
// every pointer that is written is written down as well: with next to nothing alive they ran at half their speed a good part of the time. A
// block that is never touched, and so takes addresses but no memory, has collections come at a heap of some 32 MB instead. Larger
// heaps hardly notice it.

const ballastBytes = 16 << 20

// settleHeap takes the ballast, and keeps it: before the first op, while the system still has to give pages that are zero by themselves.
var settleHeap = sync.OnceValue(func() []byte { return make([]byte, ballastBytes) })
