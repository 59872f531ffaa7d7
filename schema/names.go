package schema

import (
	"strings"

	"github.com/mcp-sidecar/mcp-sidecar/protocol"
)

// wireNames maps what comments call by a Go name (methods of Sidecar and
// constants) to the name on the wire.
func wireNames(c *Comments) map[string]string {
	names := map[string]string{}
	for _, m := range protocol.Methods {
		if m.GoName != "" {
			names[m.GoName] = m.Name
		}
	}
	for _, list := range c.constants {
		for _, k := range list {
			names[k.name] = k.value
		}
	}
	return names
}

// stem is the name that a message's envelopes begin with: that of its params
// type without what says so.
func (m *Method) stem() string {
	s := strings.TrimSuffix(strings.TrimSuffix(m.Params.Name, "Params"), "Notification")
	if !m.Notification {
		s = strings.TrimSuffix(s, "Request")
	}
	return s
}

// envelope names the whole line that carries m: a …Request or, for a
// notification, a …Message.
func (m *Method) envelope() string {
	if m.Notification {
		return m.stem() + "Message"
	}
	return m.stem() + "Request"
}

// sentBy reports whether side sends m.
func (m *Method) sentBy(side protocol.Side) bool { return m.Both || m.From == side }

// messages returns the requests or the notifications that side sends.
func (m *Model) messages(side protocol.Side, notifications bool) []*Method {
	var list []*Method
	for _, x := range m.Methods {
		if x.sentBy(side) && x.Notification == notifications {
			list = append(list, x)
		}
	}
	return list
}

// condition returns the condition under which the optional field is there, if
// there is one.
func (t *Type) condition(field string) (Condition, bool) {
	for _, c := range t.Conditions {
		for _, r := range c.Requires {
			if r == field {
				return c, true
			}
		}
	}
	return Condition{}, false
}
