// Package conformance plays scripted conversations with a sidecar: it is the
// editor, and it is every MCP server. Each script in testdata holds the sidecar
// to one promise.
//
// A script is played in one of two ways. In the package's tests all of them run
// inside testing/synctest, with the packages of the sidecar wired as main does
// it, on pipes and in fake time: "wait 10m" takes no time, and when the bubble
// is quiet there is nothing more to come. [RunProcess] plays a script against
// the real program, with real pipes, processes, sockets and time; scripts with
// the tag process are tested so, too, and "mcp-sidecar run-script FILE" does it
// for anyone. What does not come is waited for 20 s then.
//
// This comment is the reference of the language.
//
// # Files
//
// A script is a txtar archive. The comment at its top is the promise, in prose;
// it is what a failing script shows. A line "tags: process" may follow. The
// files are
//
//	config.toml         the sidecar's configuration
//	server/NAME.json    a scripted MCP server, see below
//	env                 more environment of the sidecar, KEY=value a line; HOME
//	                    and PATH are there
//	limits              smaller bounds, a name and a value a line: max-line,
//	                    max-in-flight, queue-bytes (bytes or counts; not for a
//	                    real process) and drain-timeout (1m30s)
//	session             the conversation
//
// A server of the configuration is scripted when its command is "scripted" or
// its url has the host NAME.test. With more than one server/NAME.json the
// first of args says which: args = ["NAME"]. A command that is anything else is
// looked up and, in the bubble, not run.
//
// $config, $cwd and $home stand for the configuration file, an empty folder and
// the home folder, in config.toml, in env, and in every line of the session.
//
// # Session
//
// One statement a line. Indented lines continue the one before; a line that
// begins with # is a comment. What does something is followed by the lines of
// output that it must lead to, all of them: the runner waits until the sidecar
// is quiet, and a line too many fails as a line that is missing does.
//
//	--> JSON                a line to the sidecar. "jsonrpc":"2.0" is added,
//	                        "$x" is replaced by the value of x, and all else
//	                        is sent as the bytes that it is
//	raw TEXT                bytes and a line feed. Escapes: \n \r \t \\ \xNN and
//	                        \{N*text}, the text N times; \" \/ \uNNNN are JSON's
//	                        and stay
//	raw-nonl TEXT           the same without the line feed
//	wait 1m30s              lets time pass. A real process waits at most a second
//	eof                     ends the sidecar's stdin
//	signal                  SIGTERM
//	server NAME: DOING      see below
//	file PATH: write TEXT   writes a file as another program would; PATH begins
//	                        with $config, $cwd or $home, TEXT has the escapes
//	                        of raw
//	file PATH: mode 0444    changes its permissions
//
//	<-- PATTERN             a line of output, in this order
//	<~~ PATTERN             the same, in any order among neighbours with <~~
//	<== BYTES               a line, byte for byte; ... stands for any bytes
//
//	expect-exit N           the sidecar ends, and with this code
//	never TEXT              the text is in no line and not in the log, from the
//	                        beginning of the script to its end
//	server NAME: got BYTES  the server received this line since the last look;
//	                        ... stands for any bytes
//	server NAME: match PATTERN   the same as a pattern
//	server NAME: none PATTERN    the server received no such line since then
//	file PATH: has TEXT     the file holds TEXT; ... stands for any bytes
//	server NAME: starts N   the server was started N times so far
//
//	include FILE            statements of another file in the script's folder
//
// A pattern is JSON in which "jsonrpc" is left out and
//
//	_          is anything
//	"$x"       is anything at first sight, and the same from then on ($x alone
//	           is the same)
//	{…, ...}   allows further members
//	[…, ...]   allows further items; [..., a, b, ...] wants a before b
//	           somewhere
//	"a...z"    is a string that begins and ends so
//
// The order of members does not matter, and a number is the same only when its
// digits are.
//
// "go test ./conformance -update" rewrites the arrows of every script that does
// not match, keeping variables and wildcards where they still fit. Read what it
// wrote: it makes the script say what the sidecar does, which need not be what
// was promised.
//
// # Servers
//
// server/NAME.json is an object. All is optional.
//
//	era           the revision it speaks: "2026-07-28" (the default) or one with
//	              initialize, such as "2025-11-25"
//	name, version, instructions, capabilities
//	              what it says of itself
//	tools         the list. A tool is passed on as it stands, but for "reply"
//	              (below) and an inputSchema that is added where there is none
//	              and no "bare": true. null and other junk is passed on, too
//	pages, cursors, repeat, endless
//	              a list of lists instead of tools; the cursors that come with
//	              them; that many tools made up; a list without end
//	methods       replies to other methods, by name
//	stream        HTTP: answer calls with event streams
//	start         delay, stdout and stderr (lists of lines), exit (a code),
//	              silent, probe ("exit" or "silent": what server/discover leads
//	              to), list ("silent"), status and headers (HTTP), and times:
//	              how many starts are so, 0 for all
//
// A reply is an object, or a list of which each request takes the next and the
// last one stays. In this order it may
//
//	write         lines of junk to stdout
//	stderr        lines
//	progress      [{"after": "1s", "progress": 1, "total": 2, "message": "…"}]
//	tools         replace the list, and announce that
//	elicit        ask: a list of params of elicitation/create, all at once. In
//	              the newer era that is a result input_required, in the older
//	              one requests q-1, q-2 …
//	delay         wait
//	hold          wait for "server NAME: release"
//	crash         end with this code
//	hang          never answer
//	error         answer with this error
//	result        answer with this result
//	text, isError answer with one text, in which $answer stands for the answers
//	              to elicit and $params for the params as they came; with
//	              neither result, error nor text it is "done"
//
// A DOING, for every connection of the server:
//
//	exit N · stderr LINE · write LINE (escapes as in raw) · close (stdout) ·
//	hang (reads, answers nothing more) · tools JSON (replace and announce) ·
//	changed (announce only) · ask JSON (a question outside of any call) ·
//	withdraw (its open questions) · release (the oldest reply on hold) ·
//	status N (HTTP answers with it; 200 to serve again) · forget (HTTP
//	sessions)
//
// # Goroutines
//
// A scripted server has those that its file names say: see run, endpoint and
// peer. All of them end with the script, which in the bubble is a test of its
// own: whatever the sidecar or a server leaves behind fails it.
package conformance
