package secret

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

const theSecret = "s3cr3t-value"

// A Value is printed by nothing.
func TestValue(t *testing.T) {
	s := New(theSecret)
	type outer struct {
		Shown  Value
		hidden Value
		Map    map[string]Value
	}
	v := outer{s, s, map[string]Value{"k": s}}
	var b strings.Builder
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d", "%T"} {
		fmt.Fprintf(&b, verb+" "+verb+" "+verb+"\n", s, &s, v)
	}
	j, _ := json.Marshal(v)
	b.Write(j)
	slog.New(slog.NewTextHandler(&b, nil)).Info("x", "secret", s, "struct", v)
	if out := b.String(); strings.Contains(out, theSecret) || strings.Contains(out, fmt.Sprintf("%x", theSecret)) {
		t.Errorf("printed: %s", out)
	}
	if s.Reveal() != theSecret || s.String() != Mask || s.Empty() {
		t.Error("the value is lost")
	}
	if (Value{}).String() != "" || (Value{}).Reveal() != "" {
		t.Error("the zero Value is not empty")
	}
	_ = v.hidden
}
