// Package config reads the [mcp_servers.<name>] tables of config.toml and the
// settings beside them, merges them from their layers, and says for every key
// where it came from. It is the only reader of TOML.
//
// # Layers
//
// From low to high, later wins key by key (tables merge, everything else is
// replaced, but the rules of all layers add up):
//
//	defaults    what this package fills in
//	user        config.toml, or the file given with --config instead of it
//	flags       -c key=value
//	initialize  initialize.config, a JSON object with the TOML keys
//	thread      thread/start.config, the same
//
// # Promises
//
//   - One bad entry costs one server. It is still listed, with all that is
//     wrong with it in [Server.Invalid]; the others are as if it were not there.
//   - A file that does not parse costs its layer and becomes a [Problem] with
//     line and column. [Load] returns an error only where nothing can be meant:
//     an explicit file that cannot be read, a malformed -c.
//   - An unknown key is a [Problem] that names the nearest known key.
//   - No message quotes a value, and [Config.Effective] masks whatever may be a
//     secret. [Server], [Stdio], [HTTP] and secrets print and marshal redacted.
//   - Load is a function of its [Sources] and of the one file they name. It
//     neither reads nor changes the process environment and starts nothing, so
//     what one thread brings along is never seen by another.
//   - The result is immutable by agreement and safe to share.
//
// # What it does not do
//
// It does not look for commands, check that folders exist, or open
// connections; it does not know tool names, so a filter that matches no tool
// is found by whoever has the catalog.
//
// Source: spec section 4 (configuration), 5 (idle_timeout_sec), 6.1
// (tool_name_prefix), 10 (bearer before header).
package config
