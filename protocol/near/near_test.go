package near

import (
	"testing"

	"pgregory.net/rapid"
)

// Each kind of slip counts as one.
func TestDistance(t *testing.T) {
	for _, tc := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"a", "", 1}, {"list", "list", 0}, {"list", "lists", 1}, {"list", "lst", 1},
		{"list", "lisp", 1}, {"list", "lsit", 1}, {"größe", "grösse", 2}, {"ab", "ba", 1}, {"abc", "cba", 2}, {"A", "a", 1},
	} {
		if got := Distance(tc.a, tc.b); got != tc.want {
			t.Errorf("Distance(%q, %q) = %d, want %d", tc.a, tc.b, got, tc.want)
		}
	}
}

// The order does not matter, equal names are the only ones at distance 0, and
// no distance is more than the longer name.
func TestDistanceProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.StringN(0, 12, -1).Draw(t, "a"), rapid.StringN(0, 12, -1).Draw(t, "b")
		d := Distance(a, b)
		if d != Distance(b, a) || (d == 0) != (a == b) || d > max(len([]rune(a)), len([]rune(b))) {
			t.Fatalf("Distance(%q, %q) = %d, the other way %d", a, b, d, Distance(b, a))
		}
	})
}
