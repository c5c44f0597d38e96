package gonb

import "slices"

// GoNB reads values of gonbui's type protocol.DisplayData with encoding/gob, whose format is documented there: a message is a
// length and that many bytes; integers have one byte when small, else their bytes behind a negative count; a struct is a
// list of (distance to the field before, value) that ends with 0; and a type is defined, as a struct of gob's own, before
// its first value. Types are matched by the names of their fields.
//
// Type ids of a stream are its writer's to choose. encoding/gob counts from 65; these are far above, so that gonbui can write
// its own definitions to the same pipe.
const (
	idDisplay = 70000 + iota
	idData
	idMetadata
	idComm
)

// Ids that gob gives to basic types.
const (
	gobBool      = 1
	gobInt       = 2
	gobString    = 6
	gobInterface = 8
)

// commValue is the name under which gonbui registers its type protocol.CommValue.
const commValue = "github.com/janpfeifer/gonb/gonbui/protocol.CommValue"

// A buffer builds gob.
type buffer []byte

func (b *buffer) uint(v uint64) {
	if v < 0x80 {
		*b = append(*b, byte(v))
		return
	}
	n := 0
	for x := v; x > 0; x >>= 8 {
		n++
	}
	*b = append(*b, byte(-n))
	for n--; n >= 0; n-- {
		*b = append(*b, byte(v>>(8*n)))
	}
}

func (b *buffer) int(v int) {
	if v < 0 {
		b.uint(uint64(^v)<<1 | 1)
	} else {
		b.uint(uint64(v) << 1)
	}
}

func (b *buffer) string(s string) {
	b.uint(uint64(len(s)))
	*b = append(*b, s...)
}

// any writes a value of type any: its type's registered name and id, and the value behind its length.
func (b *buffer) any(name string, id int, value buffer) {
	b.string(name)
	b.int(id)
	b.uint(uint64(len(value)))
	*b = append(*b, value...)
}

// framed puts the length before a message.
func framed(message buffer) []byte {
	var b buffer
	b.uint(uint64(len(message)))
	return append(b, message...)
}

// A field of a struct type.
type field struct {
	name string
	id   int
}

// structType defines a struct type.
func structType(id int, name string, fields ...field) []byte {
	var b buffer
	b.int(-id)
	b.uint(3) // wireType.StructT
	b.uint(1) // its CommonType
	b.common(name, id)
	b.uint(1) // its Field
	b.uint(uint64(len(fields)))
	for _, f := range fields {
		b.common(f.name, f.id)
	}
	return framed(append(b, 0, 0))
}

// mapType defines a type of maps from strings to any.
func mapType(id int, name string) []byte {
	var b buffer
	b.int(-id)
	b.uint(4) // wireType.MapT
	b.uint(1) // its CommonType
	b.common(name, id)
	b.uint(1) // its Key
	b.int(gobString)
	b.uint(1) // its Elem
	b.int(gobInterface)
	return framed(append(b, 0, 0))
}

// common writes a struct of a name and an id: gob's CommonType and fieldType.
func (b *buffer) common(name string, id int) {
	b.uint(1)
	b.string(name)
	b.uint(1)
	b.int(id)
	*b = append(*b, 0)
}

// definitions is what the pipe has to begin with.
func definitions() []byte {
	return slices.Concat(
		mapType(idData, "map[string]any"),
		mapType(idMetadata, "map[string]any"),
		structType(idComm, "CommValue", field{"Address", gobString}, field{"Request", gobBool}, field{"Value", gobInterface}),
		structType(idDisplay, "DisplayData", field{"Data", idData}, field{"Metadata", idMetadata}, field{"DisplayID", gobString}),
	)
}

// display is the message that shows data.
func display(data map[string]string, id string) []byte {
	var b buffer
	b.int(idDisplay)
	b.uint(1) // Data
	b.uint(uint64(len(data)))
	for _, mime := range sorted(data) {
		b.string(mime)
		text := buffer{0} // a value that is in no struct
		text.string(data[mime])
		b.any("string", gobString, text)
	}
	if id != "" {
		b.uint(2) // DisplayID
		b.string(id)
	}
	return framed(append(b, 0))
}

// question asks GoNB to say when it has shown everything before.
func question(n int) []byte {
	number := buffer{0}
	number.int(n)
	var value buffer
	value.uint(1) // Address
	value.string("#gonbui/sync")
	value.uint(2) // Value
	value.any("int", gobInt, number)
	value = append(value, 0)

	var b buffer
	b.int(idDisplay)
	b.uint(1) // Data
	b.uint(1)
	b.string("gonb/comm_value")
	b.any(commValue, idComm, value)
	return framed(append(b, 0))
}

func sorted(data map[string]string) []string {
	keys := make([]string, 0, len(data))
	for k := range data {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
