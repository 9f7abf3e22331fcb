package ndjson

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// human turns the lines of a Writer into text for a terminal.
type human struct{ out io.Writer }

// Human returns a writer that shows each JSON line as aligned text. It reads
// the JSON back instead of having a second way to build lines: what a person
// sees is what a program gets, and its cost does not matter.
func Human(out io.Writer) io.Writer { return human{out} }

type field struct{ key, value string }

// Write shows one whole line of a Writer.
func (h human) Write(line []byte) (int, error) {
	fields, err := flatten(line)
	if err != nil {
		return 0, err
	}
	var text strings.Builder
	kind := fields[1].value
	if repeats(kind) {
		fmt.Fprintf(&text, "%-8s", kind)
		for _, f := range fields[3:] {
			// Values keep their columns while they stay below a minute.
			fmt.Fprintf(&text, " %s=%-*s", f.key, 8, f.value)
		}
	} else {
		fmt.Fprintf(&text, "%s\n", kind)
		for _, f := range fields[3:] {
			fmt.Fprintf(&text, "  %-22s %s\n", f.key, f.value)
		}
	}
	out := strings.TrimRight(text.String(), " \n") + "\n"
	if _, err := io.WriteString(h.out, out); err != nil {
		return 0, err
	}
	return len(line), nil
}

// repeats tells the line types that come in rows from those that come once.
func repeats(kind string) bool {
	return kind == "round" || kind == "settled" || kind == "samples" || kind == "gone"
}

// flatten lists the fields in their order, nested ones under dotted names. An
// encoding/json map would lose the order.
func flatten(line []byte) ([]field, error) {
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.UseNumber()
	var fields []field
	if err := flattenValue(dec, "", &fields); err != nil {
		return nil, fmt.Errorf("line is not JSON: %w", err)
	}
	if len(fields) < 3 {
		return nil, fmt.Errorf("line has no n, type and mono_us: %s", line)
	}
	return fields, nil
}

func flattenValue(dec *json.Decoder, name string, fields *[]field) error {
	token, err := dec.Token()
	if err != nil {
		return err
	}
	delim, nested := token.(json.Delim)
	if !nested {
		*fields = append(*fields, field{name, show(token)})
		return nil
	}
	for i := 0; dec.More(); i++ {
		inner := fmt.Sprint(i)
		if delim == '{' {
			key, err := dec.Token()
			if err != nil {
				return err
			}
			inner = key.(string)
		}
		if name != "" {
			inner = name + "." + inner
		}
		if err := flattenValue(dec, inner, fields); err != nil {
			return err
		}
	}
	_, err = dec.Token() // the closing delimiter
	return err
}

// shownMax bounds a value. Longer ones are histograms, which nobody reads.
const shownMax = 200

func show(token json.Token) string {
	if token == nil {
		return "-"
	}
	text := fmt.Sprint(token)
	if len(text) > shownMax {
		return fmt.Sprintf("(%d bytes)", len(text))
	}
	return text
}
