package notebook_test

import (
	"testing"
	"time"
)

// ordinary is what yard takes on a core of 3 GHz that has its execution units to itself.
const ordinary = 200 * time.Microsecond

var yardNumbers [4096]float32

// yard is the least time of a fixed loop of multiply-adds.
func yard() time.Duration {
	best := time.Hour
	for range 5 {
		began := time.Now()
		for range 64 {
			for i := range yardNumbers {
				yardNumbers[i] = yardNumbers[i]*0.5 + 1
			}
		}
		best = min(best, time.Since(began))
	}
	return best
}

// watchPace looks once a second how many times as long as ordinary the cores take: on a virtual machine somebody else may use the other half of
// a core, and what computes there takes up to twice the processor time without waiting for anything. stop returns the mean, at least 1.
func watchPace() (stop func() float64) {
	quit, mean := make(chan struct{}), make(chan float64)
	go func() {
		sum, n := 0.0, 0
		for {
			sum += max(1, float64(yard())/float64(ordinary))
			n++
			select {
			case <-quit:
				mean <- sum / float64(n)
				return
			case <-time.After(time.Second):
			}
		}
	}()
	return func() float64 { close(quit); return <-mean }
}

func TestPace(t *testing.T) {
	stop := watchPace()
	yard()
	if pace := stop(); pace < 1 || pace > 20 {
		t.Errorf("the cores take %v times as long as ordinary ones", pace)
	}
}
