package client

// keptLine is the longest line whose memory is kept for the next one.
const keptLine = 64 << 10

// Write sends any bytes as they are, with a line feed after them. A reply to
// them reaches Options.Stray, unless its id is that of an open call.
func (c *Client) Write(line []byte) error {
	return c.send(func(dst []byte) ([]byte, error) { return append(dst, line...), nil })
}

// send has a line made and writes it.
func (c *Client) send(make func(dst []byte) ([]byte, error)) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	line, err := make(c.line[:0])
	if err != nil {
		return err
	}
	if cap(line) <= keptLine {
		c.line = line
	}
	c.trace(Out, line)
	_, err = c.out.Write(append(line, '\n'))
	return err
}

func (c *Client) trace(dir string, line []byte) {
	if c.opts.Trace == nil {
		return
	}
	c.tracing.Lock()
	defer c.tracing.Unlock()
	c.opts.Trace(dir, line)
}
