package conformance

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// volatile are members whose values differ from run to run: -update writes _
// for them.
var volatile = []string{"createdAt", "updatedAt", "createdAtMs", "startedAtMs", "completedAtMs", "durationMs",
	"fingerprint", "definitionHash", "cliVersion", "userAgent", "pid", "version", "crashId"}

// rewrite returns the arrows that a step should have, given what came. An arrow
// that matches stays as it is; of one that does not, the wildcards and
// variables stay where they still fit.
func (p *player) rewrite(s *step, lines []string, values []node) []string {
	var out []string
	free := slices.Clone(s.want)
	vars := p.vars
	for i, line := range lines {
		best := -1
		for j, a := range free {
			if next, err := a.match(line, values[i], vars); err == nil {
				best, vars = j, next
				out = append(out, string(a.kind)+" "+a.text)
				break
			}
		}
		if best < 0 {
			best = slices.IndexFunc(free, func(a arrow) bool { return a.kind != arrowBytes && sameMethod(a.pattern, values[i]) })
			kind, pattern := arrowNext, node{} // which fits nothing
			if best >= 0 {
				kind, pattern = free[best].kind, free[best].pattern
			}
			merged := merge(pattern, values[i], vars)
			if best < 0 {
				merged = named(condensed(merged, vars), vars)
			}
			if next, err := match(merged, values[i], vars); err == nil {
				vars = next
			}
			out = append(out, string(kind)+" "+merged.String())
		}
		if best >= 0 {
			free = drop(free, best)
		}
	}
	p.vars = vars
	return out
}

// essence says what a script that is written anew keeps of large objects: the
// members, by the key under which the object stands.
var essence = map[string][]string{
	"thread":  {"id"},
	"binding": {"id"},
	"result":  {"thread", "startup"}, // of thread/start
}

// condensed shortens a new message: large objects to their essence, and texts
// around the paths of a run.
func condensed(n node, vars bindings) node {
	switch n.kind {
	case str:
		for _, name := range given {
			if v := vars[name]; v.text != "" && n.text != v.text {
				n.text = strings.ReplaceAll(n.text, v.text, "...")
			}
		}
	case array:
		n.items = slices.Clone(n.items)
		for i := range n.items {
			n.items[i] = condensed(n.items[i], vars)
		}
	case object:
		n.members = slices.Clone(n.members)
		for i, m := range n.members {
			v := condensed(m.value, vars)
			if keep := essence[m.key]; v.kind == object && len(keep) > 0 {
				if _, ok := v.get(keep[len(keep)-1]); ok {
					v.members = slices.DeleteFunc(v.members, func(m member) bool { return !slices.Contains(keep, m.key) })
					v.more = true
				}
			}
			n.members[i].value = v
		}
	case literal, anything, variable:
	}
	return n
}

// naming says which members of new messages get variables of their own, so that
// a script can go on with them.
var naming = []struct {
	path []string
	name string
}{
	{[]string{"params", "thread", "id"}, "t"},
	{[]string{"result", "thread", "id"}, "t"},
	{[]string{"result", "binding", "id"}, "b"},
}

// named gives ids that were not there before variables: $t for a thread, $b for
// a binding, $q, $q2 … for a question of the sidecar.
func named(message node, vars bindings) node {
	for _, n := range naming {
		if _, taken := vars[n.name]; !taken {
			message = name(message, n.path, n.name)
		}
	}
	if _, asks := message.get("method"); asks {
		free := "q"
		for n := 2; ; n++ {
			if _, taken := vars[free]; !taken {
				break
			}
			free = "q" + strconv.Itoa(n)
		}
		message = name(message, []string{"id"}, free)
	}
	return message
}

// name puts a variable in place of the string at a path, if there is one.
func name(n node, path []string, variableName string) node {
	if len(path) == 0 {
		if n.kind == str {
			return node{kind: variable, text: variableName}
		}
		return n
	}
	n.members = slices.Clone(n.members)
	for i, m := range n.members {
		if m.key == path[0] {
			n.members[i].value = name(m.value, path[1:], variableName)
		}
	}
	return n
}

// merge returns a pattern for v that keeps of p what fits.
func merge(p, v node, vars bindings) node {
	switch {
	case p.kind == anything:
		return p
	case p.kind == variable:
		if bound, ok := vars[p.text]; !ok || (bindings{}).match(bound, v, "") == nil {
			return p
		}
	case p.kind == str && v.kind == str && glob(p.text, v.text):
		return p
	case p.kind == object && v.kind == object:
		return mergeObject(p, v, vars)
	case p.kind == array && v.kind == array && !p.loose:
		out := node{kind: array, more: p.more}
		for i, item := range v.items {
			switch {
			case i < len(p.items):
				out.items = append(out.items, merge(p.items[i], item, vars))
			case !p.more:
				out.items = append(out.items, fresh(item, vars))
			}
		}
		return out
	}
	return fresh(v, vars)
}

func mergeObject(p, v node, vars bindings) node {
	out := node{kind: object, more: p.more}
	for _, m := range v.members {
		old, ok := p.get(m.key)
		switch {
		case ok:
			out.members = append(out.members, member{m.key, merge(old, m.value, vars)})
		case !p.more:
			out.members = append(out.members, freshMember(m, vars))
		}
	}
	return out
}

// fresh is the pattern of a value of which nothing is known: the value itself,
// with bound variables in place of their values.
func fresh(v node, vars bindings) node {
	switch v.kind {
	case str:
		const telling = 3 // bytes; shorter values are equal by chance
		for _, name := range slices.Sorted(maps.Keys(vars)) {
			if bound := vars[name]; bound.kind == str && bound.text == v.text && len(v.text) >= telling {
				return node{kind: variable, text: name}
			}
		}
	case array:
		v.items = slices.Clone(v.items)
		for i := range v.items {
			v.items[i] = fresh(v.items[i], vars)
		}
	case object:
		v.members = slices.Clone(v.members)
		for i, m := range v.members {
			v.members[i] = freshMember(m, vars)
		}
	case literal, anything, variable:
	}
	return v
}

func freshMember(m member, vars bindings) member {
	if slices.Contains(volatile, m.key) {
		return member{m.key, node{kind: anything}}
	}
	return member{m.key, fresh(m.value, vars)}
}

// An edit replaces the arrows of a step.
type edit struct {
	step   *step
	arrows []string
}

// apply returns the text of a script with edits made.
func apply(text string, edits []edit) string {
	lines := strings.Split(text, "\n")
	slices.SortFunc(edits, func(a, b edit) int { return b.step.line - a.step.line }) // from the end, so that numbers stay right
	for _, e := range edits {
		first := e.step.last // 1-based number of the last line to keep
		if len(e.step.want) > 0 {
			first = e.step.want[0].line - 1
		}
		lines = slices.Replace(lines, first, e.step.last, e.arrows...)
	}
	return strings.Join(lines, "\n")
}
