// Package real tries the built sidecar against what it was not written
// together with: the reference servers of MCP, pinned in package-lock.json, and
// the official client suite, for which the command in the folder driver plays
// the editor. Everything is in its tests.
//
// They need the servers ("npm ci --ignore-scripts" in this folder). Without
// them they are skipped, or, with MCP_SIDECAR_REQUIRE_NODE=1, they fail.
package real
