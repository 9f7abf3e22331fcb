package opt

import (
	"math/big"
	"testing"
)

func TestSub(t *testing.T) {
	for _, c := range []struct {
		name      string
		a, before Int
		want      Int
	}{
		{"growth", Of(7), Of(5), Of(2)},
		{"no growth is a real zero", Of(5), Of(5), Of(0)},
		{"a fall is a new generation", Of(4), Of(5), Int{}},
		{"absent now", Int{}, Of(5), Int{}},
		{"absent before", Of(5), Int{}, Int{}},
	} {
		if got := c.a.Sub(c.before); got != c.want {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}

func TestAddAndDivKeepAbsence(t *testing.T) {
	if got := Of(2).Add(Of(3)); got != Of(5) {
		t.Errorf("2+3 = %v", got)
	}
	if got := Of(2).Add(Int{}); got.OK {
		t.Errorf("2+nothing = %v", got)
	}
	if got := Of(1999).Div(1000); got != Of(1) {
		t.Errorf("1999/1000 = %v", got)
	}
	if got := (Int{}).Div(1000); got.OK {
		t.Errorf("nothing/1000 = %v", got)
	}
}

func TestParse(t *testing.T) {
	for text, want := range map[string]Int{
		"0":                   Of(0),
		"42":                  Of(42),
		"007":                 Of(7),
		"9223372036854775807": Of(9223372036854775807),
		"9223372036854775808": {},
		"":                    {},
		"-1":                  {},
		"+1":                  {},
		"1_000":               {},
		"1.5":                 {},
		"12 ":                 {},
		"max":                 {},
	} {
		if got := Parse([]byte(text)); got != want {
			t.Errorf("Parse(%q) = %v, want %v", text, got, want)
		}
	}
}

// FuzzParse compares with arithmetic that cannot overflow.
func FuzzParse(f *testing.F) {
	f.Add("9223372036854775807")
	f.Add("-5")
	f.Fuzz(func(t *testing.T, text string) {
		got := Parse([]byte(text))
		digits := text != ""
		for _, b := range []byte(text) {
			digits = digits && b >= '0' && b <= '9'
		}
		want, ok := new(big.Int).SetString(text, 10)
		fits := digits && ok && want.IsInt64()
		if got.OK != fits || fits && got.N != want.Int64() {
			t.Errorf("Parse(%q) = %v", text, got)
		}
	})
}
