// Package cli is the command line: flags, exit codes, and the words for errors.
package cli

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"

	"cpulab/internal/ndjson"
)

const (
	exitDone   = 0
	exitFailed = 1
	exitUsage  = 2
)

// command is one subcommand.
type command struct {
	name    string
	summary string // empty for what only this program calls
	run     func(s streams, args []string) error
}

// streams are where a command reads and writes.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// usageError is a mistake in the command line.
type usageError struct{ error }

func usagef(format string, args ...any) error {
	return usageError{fmt.Errorf(format, args...)}
}

// coded is an error with an exit code of its own.
type coded interface{ ExitCode() int }

// Main runs the command that args name and returns the exit code.
func Main(args []string, in io.Reader, out, errOut io.Writer) int {
	commands := slices.Concat(everywhere, native)
	if len(args) == 0 {
		fmt.Fprint(errOut, overview(commands))
		return exitUsage
	}
	if slices.Contains([]string{"help", "-h", "-help", "--help"}, args[0]) {
		fmt.Fprint(out, overview(commands))
		return exitDone
	}
	i := slices.IndexFunc(commands, func(c command) bool { return c.name == args[0] })
	if i < 0 {
		fmt.Fprintf(errOut, "cpulab: there is no command %q\n\n%s", args[0], overview(commands))
		return exitUsage
	}
	err := commands[i].run(streams{in, out, errOut}, args[1:])
	return report(err, args[0], errOut)
}

// report says what went wrong and chooses the exit code.
func report(err error, name string, errOut io.Writer) int {
	if err == nil || errors.Is(err, flag.ErrHelp) {
		return exitDone
	}
	fmt.Fprintf(errOut, "cpulab %s: %v\n", name, err)
	var usage usageError
	var code coded
	switch {
	case errors.As(err, &usage):
		fmt.Fprintf(errOut, "See: cpulab %s --help\n", name)
		return exitUsage
	case errors.As(err, &code):
		return code.ExitCode()
	}
	return exitFailed
}

func overview(commands []command) string {
	text := "Usage: cpulab COMMAND [FLAGS]   (cpulab COMMAND --help for the flags)\n\n"
	for _, c := range commands {
		if c.summary == "" {
			continue
		}
		text += fmt.Sprintf("  %-8s %s\n", c.name, c.summary)
	}
	return text
}

// writer returns the writer of lines, as JSON or as text.
func (s streams) writer(human bool) *ndjson.Writer {
	if human {
		return ndjson.NewWriter(ndjson.Human(s.out))
	}
	return ndjson.NewWriter(s.out)
}
