package thread

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/mcp-sidecar/mcp-sidecar/elicit"
	"github.com/mcp-sidecar/mcp-sidecar/protocol"
	"github.com/mcp-sidecar/mcp-sidecar/session/config"
)

// slowEditor is asked what it can show while a generation is built, and answers
// when it may.
type slowEditor struct{ may chan struct{} }

func (slowEditor) Notify(string, any) {}
func (slowEditor) Approvals() bool    { return true }
func (e slowEditor) Questions() protocol.ElicitationCapability {
	<-e.may
	return protocol.ElicitationCapability{}
}
func (slowEditor) Ask(context.Context, protocol.ThreadID, protocol.TurnID, elicit.Question) (elicit.Answer, error) {
	return elicit.Answer{}, errors.New("nobody is there")
}

// Settings are in force for every request that follows their reply: one that
// comes while another builds the next generation waits for it, and does not go
// on with the one before.
func TestSettingsHoldWhoeverBuilds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg, err := config.Load(config.Sources{})
		if err != nil {
			t.Fatal(err)
		}
		e := slowEditor{make(chan struct{}, 1)}
		e.may <- struct{}{}
		th := New(t.Context(), Options{ID: "t-1", Config: cfg, Editor: e, Settings: Settings{Policy: elicit.Policy{Never: true}}})
		defer th.Close(t.Context())
		if _, err := th.Update(func(s *Settings) error { s.Policy.Never = false; return nil }); err != nil {
			t.Fatal(err)
		}
		policies := make(chan elicit.Policy, 2)
		for range 2 {
			go func() {
				g, release, err := th.acquire(t.Context())
				if err != nil {
					t.Error(err)
					return
				}
				defer release()
				policies <- g.settings.Policy
			}()
		}
		synctest.Wait()
		if len(policies) > 0 {
			t.Errorf("one went on with %+v", <-policies)
		}
		e.may <- struct{}{}
		for range 2 {
			if p := <-policies; p.Never {
				t.Error("one has the policy from before")
			}
		}
	})
}
