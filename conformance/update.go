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
			kind, pattern := arrowNext, node{kind: anything}
			if best >= 0 {
				kind, pattern = free[best].kind, free[best].pattern
			}
			merged := merge(pattern, values[i], vars)
			if best < 0 {
				merged = named(merged, vars)
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

// named gives the id of a question that was not there before a variable of its
// own: $q, $q2 …
func named(message node, vars bindings) node {
	if _, asks := message.get("method"); !asks {
		return message
	}
	for i, m := range message.members {
		if m.key != "id" || m.value.kind != str {
			continue
		}
		name := "q"
		for n := 2; ; n++ {
			if _, taken := vars[name]; !taken {
				break
			}
			name = "q" + strconv.Itoa(n)
		}
		message.members[i].value = node{kind: variable, text: name}
	}
	return message
}

// merge returns a pattern for v that keeps of p what fits.
func merge(p, v node, vars bindings) node {
	switch {
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
		case ok && old.kind == anything:
			out.members = append(out.members, member{m.key, old})
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
		for i := range v.items {
			v.items[i] = fresh(v.items[i], vars)
		}
	case object:
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
