package conformance

import "time"

// A canned stage says the same whatever it is told.
type canned struct {
	out, said [][]string // one list a settling
	log       string
}

func (c *canned) write([]byte) error       { return nil }
func (c *canned) closeInput()              {}
func (c *canned) signal() error            { return nil }
func (c *canned) sleep(time.Duration)      {}
func (c *canned) exit() (int, bool)        { return 0, true }
func (c *canned) logged() string           { return c.log }
func (c *canned) until(f func() bool) bool { return f() }

func (c *canned) settle(int) []string {
	if len(c.out) == 0 {
		return nil
	}
	lines := c.out[0]
	c.out, c.said = c.out[1:], append(c.said, lines)
	return lines
}
