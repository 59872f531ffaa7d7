// Command driver plays the editor for one scenario of the official client
// suite: it lets the sidecar do to the suite's server what the scenario wants
// to see, through the sidecar's own protocol.
//
// The suite starts it as "driver URL" and says in its environment what to play:
// MCP_CONFORMANCE_SCENARIO, MCP_CONFORMANCE_PROTOCOL_VERSION and, for some
// scenarios, MCP_CONFORMANCE_CONTEXT (JSON). MCP_SIDECAR_BINARY is the sidecar
// to start. Each driver has a state folder of its own, since the suite plays
// its scenarios all at once.
//
// It ends with code 0 and the line "the scenario was played to its end" on stdout if the scenario was played
// to its end; else with code 1 and the reason on stderr. What the server makes
// of it is the suite's to judge.
package main
