// Package figures turns samples into the few numbers that are shown, and those
// into a table.
package figures

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// Median returns the middle of the values, the mean of the two middle ones if
// there are two, and 0 of none.
func Median(values []float64) float64 {
	n := len(values)
	if n == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(values))
	if n%2 == 1 {
		return s[n/2]
	}
	return (s[n/2-1] + s[n/2]) / 2
}

// Quantile returns the smallest value that at least the share q of the values,
// 0 to 1, does not exceed; 0 of none.
func Quantile(values []float64, q float64) float64 {
	n := len(values)
	if n == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(values))
	i := int(q * float64(n))
	if float64(i) == q*float64(n) {
		i--
	}
	return s[min(max(i, 0), n-1)]
}

// A Cell is one figure of one target: a value for each round. The zero Cell is
// one that was not measured.
type Cell []float64

// Measured reports whether there is anything.
func (c Cell) Measured() bool { return len(c) > 0 }

// String gives the median and, if there are several values, the least of them.
func (c Cell) String() string {
	switch {
	case !c.Measured():
		return "-"
	case len(c) == 1:
		return number(c[0])
	}
	return number(Median(c)) + " (" + number(slices.Min(c)) + ")"
}

// number writes three digits, as far as the unit is worth them.
func number(x float64) string {
	switch {
	case x >= 100:
		return fmt.Sprintf("%.0f", x)
	case x >= 10:
		return fmt.Sprintf("%.1f", x)
	}
	return fmt.Sprintf("%.2f", x)
}

// An Aim is what our figure should not exceed. The zero Aim is none.
type Aim struct {
	// Factor times the figure of the column Of, if Factor is not 0.
	Factor float64
	Of     string
	// Most is the figure itself, if not 0.
	Most float64
}

// String says the aim in a few characters.
func (a Aim) String() string {
	switch {
	case a.Factor != 0:
		return fmt.Sprintf("<= %gx %s", a.Factor, a.Of)
	case a.Most != 0:
		return fmt.Sprintf("<= %g", a.Most)
	}
	return ""
}

// A Row is one figure of all targets.
type Row struct {
	Name  string // what was done
	What  string // what is counted, and in which unit
	Aim   Aim
	Cells map[string]Cell // by column
}

// ratio returns how many times the column's median ours is.
func (r Row) ratio(ours, column string) (float64, bool) {
	a, b := r.Cells[ours], r.Cells[column]
	if !a.Measured() || !b.Measured() || Median(b) == 0 {
		return 0, false
	}
	return Median(a) / Median(b), true
}

// Verdict says "ok" or "over", or "" where there is no aim or nothing was
// measured to hold it against.
func (r Row) Verdict(ours string) string {
	var over bool
	switch {
	case r.Aim.Factor != 0:
		x, ok := r.ratio(ours, r.Aim.Of)
		if !ok {
			return ""
		}
		over = x > r.Aim.Factor
	case r.Aim.Most != 0 && r.Cells[ours].Measured():
		over = Median(r.Cells[ours]) > r.Aim.Most
	default:
		return ""
	}
	if over {
		return "over"
	}
	return "ok"
}

// Write writes the rows as a table: a column for each target, the first of them
// being ours, then our ratio to each of the others, the aim and the verdict. A
// name is written once for the rows that share it, and columns in which nothing
// was measured are left out.
func Write(w io.Writer, columns []string, rows []Row) error {
	columns = slices.DeleteFunc(slices.Clone(columns), func(c string) bool {
		return c != columns[0] && !slices.ContainsFunc(rows, func(r Row) bool { return r.Cells[c].Measured() })
	})
	ours, others := columns[0], columns[1:]
	head := append([]string{"", ""}, columns...)
	for _, c := range others {
		head = append(head, "/"+c)
	}
	table := [][]string{append(head, "aim", "")}
	last := ""
	for _, r := range rows {
		name := r.Name
		if name == last {
			name = ""
		}
		last = r.Name
		line := []string{name, r.What}
		for _, c := range columns {
			line = append(line, r.Cells[c].String())
		}
		for _, c := range others {
			text := "-"
			if x, ok := r.ratio(ours, c); ok {
				text = fmt.Sprintf("%.2f", x)
			}
			line = append(line, text)
		}
		table = append(table, append(line, r.Aim.String(), r.Verdict(ours)))
	}
	return align(w, table)
}

// align pads the fields; numbers stand at the right of their column.
func align(w io.Writer, table [][]string) error {
	widths := make([]int, len(table[0]))
	for _, line := range table {
		for i, f := range line {
			widths[i] = max(widths[i], utf8.RuneCountInString(f))
		}
	}
	for _, line := range table {
		var b strings.Builder
		for i, f := range line {
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(f))
			if isNumber := i >= 2 && i < len(line)-2; isNumber {
				b.WriteString(pad + f)
			} else {
				b.WriteString(f + pad)
			}
			b.WriteString("  ")
		}
		if _, err := fmt.Fprintln(w, strings.TrimRight(b.String(), " ")); err != nil {
			return err
		}
	}
	return nil
}
