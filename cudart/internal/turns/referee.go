package turns

import (
	"slices"
	"time"
)

// A Match is who takes turns, and how.
type Match struct {
	Ours   []*Player     // one behind the other
	Peer   *Player       // may be nil
	Rounds int           // of each name
	First  time.Duration // what a program may take until it waits for the first time: it starts, and loads its libraries
	Most   time.Duration // what it may take then, from one answer to the next; longer, and it is sent off
	// Pair is told the seconds of both sides for what they have measured in turn, and which of ours it was.
	Pair func(name string, which int, ours, peer []float64)
}

// Referee lets programs run until all have ended. What ours wait for and the peer has as well they measure in turn, as often as there are
// rounds, each of them first in every other one. What only one has is measured as often, alone: that of the peer when ours come to a name
// behind it.
func (m *Match) Referee() {
	if m.Peer == nil {
		m.Peer = &Player{over: true}
	}
	m.peerGoesOn()
	for i, p := range m.Ours {
		for ; p != nil; p = p.next() {
			for m.goOn(p); !p.over; m.goOn(p) {
				m.measure(i, p)
			}
		}
	}
	for ; !m.Peer.over; m.peerGoesOn() {
		m.alone(m.Peer)
	}
}

// measure has one of ours measure what it waits with.
func (m *Match) measure(i int, p *Player) {
	name := p.at
	if !m.peerComesTo(name) {
		m.alone(p)
		return
	}
	if a, b := m.inTurn(p, m.Peer); len(a) == m.Rounds && len(b) == m.Rounds {
		m.Pair(name, i, a, b)
	}
	m.peerGoesOn()
}

func (m *Match) goOn(p *Player) { p.goOn(m.First, m.Most) }

// peerGoesOn has the peer go on to its next name, or, where it has ended, the program that takes its place.
func (m *Match) peerGoesOn() {
	if !m.Peer.over {
		m.goOn(m.Peer)
	}
	for m.Peer.over {
		p := m.Peer.next()
		if p == nil {
			m.Peer.Again = nil
			return
		}
		m.Peer = p
		m.goOn(p)
	}
}

// peerComesTo has the peer go on to a name, if it has it: what lies between ours do not have, or they have failed there.
func (m *Match) peerComesTo(name string) bool {
	for m.Peer.comesYet(name) {
		if m.Peer.at == name {
			return true
		}
		m.alone(m.Peer)
		m.peerGoesOn()
	}
	return false
}

func (m *Match) alone(p *Player) {
	for range m.Rounds {
		if _, ok := p.turn(m.Most); !ok {
			return
		}
	}
}

// inTurn returns the seconds of both, fewer than asked for of one that has ended or failed in between.
func (m *Match) inTurn(a, b *Player) (of, by []float64) {
	players, seconds := []*Player{a, b}, [2][]float64{}
	for r := range m.Rounds {
		for k, p := range players {
			if s, ok := p.turn(m.Most); ok {
				at := (r + k) % 2
				seconds[at] = append(seconds[at], s)
			}
		}
		slices.Reverse(players)
	}
	return seconds[0], seconds[1]
}
