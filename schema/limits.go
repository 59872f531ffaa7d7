package schema

import "fmt"

// A Limit is a bound that an editor may meet, as the reference page tells it.
type Limit struct {
	// Name is stable, for tests that compare the page with the constants that
	// are enforced.
	Name string
	// Value is in Unit.
	Value int64
	Unit  Unit
	// What is bounded, and what happens beyond.
	What string
	// Setting is what changes it; "" means it is fixed.
	Setting string
}

// Unit is the unit of a Limit.
type Unit string

// The units.
const (
	Bytes        Unit = "B"
	Milliseconds Unit = "ms"
	Count        Unit = ""
)

// Limits are the bounds of the contract (spec section 12). Each is enforced
// elsewhere, by a named constant of the package that has the work.
var Limits = []Limit{
	{"editorLine", 32 << 20, Bytes, "A line from the editor. A longer one is answered with kind lineTooLong and skipped.", ""},
	{"serverMessage", 32 << 20, Bytes, "A message from a server. A call whose result is longer ends with reason resultTooLarge.", ""},
	{"editorQueue", 64 << 20, Bytes, "Lines that the editor has not read. Beyond, the editor counts as gone.", ""},
	{"requestsInFlight", 1024, Count, "Requests of the editor that are not answered yet. Beyond, kind overloaded.", ""},
	{"bindingsPerThread", 16, Count, "Bindings that a thread keeps. An older one is refused with kind bindingExpired.", ""},
	{"itemResult", 1 << 20, Bytes, "A result inside item/completed. A larger one is left out there; the reply has it.", ""},
	{"statusPage", 100, Count, "Servers on a page of mcpServerStatus/list.", "limit"},
	{"toolsPerServer", 2048, Count, "Tools that are listed of one server. The rest is left out and the server says so.", ""},
	{"listPages", 100, Count, "Pages that are read of one list of a server.", ""},
	{"cursor", 64 << 10, Bytes, "A cursor that a server gives.", ""},
	{"callableName", 128, Bytes, "A callable name, namespace and separator included; 64 in dialects that say so.", "model.nameMaxLength"},
	{"modelOutput", 10_000, Count, "Approximate tokens of a result that a model reads. The middle of a longer one is cut out.", "model.outputTokenLimit, tools.<tool>.output_token_limit"},
	{"stderrTail", 64 << 10, Bytes, "What is kept of a server's stderr.", ""},
	{"serverStart", 30_000, Milliseconds, "The start of a server.", "startup_timeout_sec"},
	{"startupGrace", 1_000, Milliseconds, "How long a freeze waits for servers that are still starting.", "waitMs, mcp_optional_startup_grace_ms"},
	{"toolCall", 300_000, Milliseconds, "A tool call, without the time a person takes to answer.", "timeoutMs, tool_timeout_sec"},
	{"drain", 30_000, Milliseconds, "How long requests that were read are still answered after the end of stdin.", "--drain-timeout"},
}

// String returns the limit with its unit: "32 MiB", "30 s", "1,024".
func (l Limit) String() string {
	switch {
	case l.Unit == Bytes && l.Value%(1<<20) == 0:
		return fmt.Sprintf("%d MiB", l.Value>>20)
	case l.Unit == Bytes && l.Value%(1<<10) == 0:
		return fmt.Sprintf("%d KiB", l.Value>>10)
	case l.Unit == Milliseconds && l.Value%1000 == 0:
		return fmt.Sprintf("%d s", l.Value/1000)
	case l.Unit != Count:
		return fmt.Sprintf("%d %s", l.Value, l.Unit)
	case l.Value >= 1000:
		return fmt.Sprintf("%d,%03d", l.Value/1000, l.Value%1000)
	}
	return fmt.Sprint(l.Value)
}
