package cli

import (
	"errors"
	"flag"
	"fmt"
)

// flags is a flag set whose errors name the flag, the value and what is
// allowed.
type flags struct {
	*flag.FlagSet
	synopsis string
	human    bool
}

func newFlags(name, synopsis string) *flags {
	f := &flags{FlagSet: flag.NewFlagSet(name, flag.ContinueOnError), synopsis: synopsis}
	f.Usage = func() {} // parse prints it, to the right stream
	return f
}

// withHuman adds --human, for the commands that write lines.
func (f *flags) withHuman() *flags {
	f.BoolVar(&f.human, "human", false, "print text for people instead of JSON")
	return f
}

// parse parses args. Arguments that are no flags are only for commands that
// take them.
func (f *flags) parse(s streams, args []string, takesArgs bool) error {
	f.SetOutput(discard{})
	err := f.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		f.SetOutput(s.out)
		fmt.Fprintf(s.out, "Usage: cpulab %s %s\n\n", f.Name(), f.synopsis)
		f.PrintDefaults()
		return err
	case err != nil:
		return usageError{err}
	case f.NArg() > 0 && !takesArgs:
		return usagef("unexpected argument %q: it takes flags only", f.Arg(0))
	}
	return nil
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }
