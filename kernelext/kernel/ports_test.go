package kernel

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"sync"
	"testing"
)

// ports are those that tests give to kernels. The system gives none of them to whoever asks for any, as the tests of other packages
// and what they start do all the time: it would sometimes be one that was free a moment ago and that a kernel is about to take.
var ports struct {
	sync.Mutex
	next, first, last int
}

// freePorts finds ports for a kernel.
func freePorts(t *testing.T, n int) (list []int) {
	t.Helper()
	ports.Lock()
	defer ports.Unlock()
	if ports.next == 0 {
		ports.first, ports.last = 20000, 32767
		if b, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range"); err == nil {
			var low, high int
			if _, err := fmt.Sscan(string(b), &low, &high); err == nil && low > 21000 {
				ports.last = low - 1
			}
		}
		ports.next = ports.first + rand.IntN(ports.last-ports.first)
	}
	for range ports.last - ports.first {
		if ports.next++; ports.next > ports.last {
			ports.next = ports.first
		}
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", ports.next))
		if err != nil {
			continue // somebody's
		}
		_ = l.Close()
		if list = append(list, ports.next); len(list) == n {
			return list
		}
	}
	t.Fatal("no free ports")
	return nil
}
