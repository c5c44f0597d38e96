package kernel

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// A message is one Jupyter message, kept as the bytes that came so that what is not changed is passed on untouched.
type message struct {
	ids       [][]byte // routing frames before the delimiter
	signature []byte
	header    []byte
	parent    []byte
	metadata  []byte
	content   []byte
	buffers   [][]byte

	id   string // header's msg_id
	kind string // header's msg_type

	magic  *magicCell // of a cell whose %amp lines have been answered
	listed bool       // a cell whose imports have been looked at

	via channel // of a front end's message: where it came in

	announced bool // the kernel has said that it is busy with this request

	again    bool // a GoNB has died on this request before beginning it
	retried  bool // GoNB has been started once more for this request
	numbered bool // count is set
	kept     bool // the request raised the count: it is in the history
	count    int  // execution count
}

var delimiter = []byte("<IDS|MSG>")

var (
	errMalformed = errors.New("malformed message")
	errSignature = errors.New("bad signature")
)

// parse reads the frames of a message and checks its signature when there is a key.
func parse(frames [][]byte, key []byte) (*message, error) {
	at := -1
	for i, f := range frames {
		if bytes.Equal(f, delimiter) {
			at = i
			break
		}
	}
	if at < 0 || len(frames) < at+6 {
		return nil, errMalformed
	}
	m := &message{
		ids: frames[:at], signature: frames[at+1],
		header: frames[at+2], parent: frames[at+3], metadata: frames[at+4], content: frames[at+5],
		buffers: frames[at+6:],
	}
	if len(key) > 0 && !hmac.Equal(m.sign(key), m.signature) {
		return nil, errSignature
	}
	var h struct {
		ID   string `json:"msg_id"`
		Kind string `json:"msg_type"`
	}
	if err := json.Unmarshal(m.header, &h); err != nil || h.Kind == "" {
		return nil, errMalformed
	}
	m.id, m.kind = h.ID, h.Kind
	return m, nil
}

// sign returns the signature of m as hexadecimal digits; with no key it is empty, as the protocol has it.
func (m *message) sign(key []byte) []byte {
	if len(key) == 0 {
		return nil
	}
	mac := hmac.New(sha256.New, key)
	for _, part := range [][]byte{m.header, m.parent, m.metadata, m.content} {
		mac.Write(part)
	}
	return hex.AppendEncode(nil, mac.Sum(nil))
}

// frames returns m as it goes on the wire, with the signature it has.
func (m *message) frames() [][]byte {
	out := make([][]byte, 0, len(m.ids)+6+len(m.buffers))
	out = append(out, m.ids...)
	out = append(out, delimiter, m.signature, m.header, m.parent, m.metadata, m.content)
	return append(out, m.buffers...)
}

// withContent returns a copy of m that has another content and is signed anew.
func (m *message) withContent(content []byte, key []byte) *message {
	c := *m
	c.content = content
	c.signature = c.sign(key)
	return &c
}

// withCode returns a copy of a request that has another code.
func (m *message) withCode(code string, key []byte) *message {
	fields := map[string]any{}
	_ = json.Unmarshal(m.content, &fields)
	fields["code"] = code
	return m.withContent(mustJSON(fields), key)
}

// parentID is the msg_id of the request that m answers, "" if none.
func (m *message) parentID() string {
	var h struct {
		ID string `json:"msg_id"`
	}
	if json.Unmarshal(m.parent, &h) != nil {
		return ""
	}
	return h.ID
}

// essential tells a message that a front end waits for from output, of which it may miss some.
func (m *message) essential() bool {
	return m.kind == "status" || m.kind == "input_request" || m.kind == "error" || m.kind == "iopub_welcome" || strings.HasSuffix(m.kind, "_reply")
}

// An author makes messages of the kernel's own.
type author struct {
	key     []byte
	session string
}

// compose returns a signed message of the given kind that answers the request parent (nil: none).
func (a author) compose(kind string, parent *message, content any) *message {
	id := newID()
	header, _ := json.Marshal(map[string]any{
		"msg_id": id, "msg_type": kind, "session": a.session, "username": "kernel",
		"version": protocolVersion, "date": time.Now().UTC().Format(time.RFC3339Nano),
	})
	m := &message{header: header, parent: []byte("{}"), metadata: []byte("{}"), id: id, kind: kind}
	if parent != nil {
		m.parent = parent.header
	}
	body, err := json.Marshal(content)
	if err != nil {
		panic(fmt.Sprintf("kernel: content of %s: %v", kind, err)) // only our own plain maps come here
	}
	m.content = body
	m.signature = m.sign(a.key)
	return m
}

func newID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// protocolVersion is the version of the messaging protocol. With 5.4 a kernel greets who subscribes to iopub.
const protocolVersion = "5.4"
