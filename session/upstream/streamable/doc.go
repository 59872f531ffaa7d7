// Package streamable carries MCP over Streamable HTTP: it is everything of
// ours that lies under the Go SDK's mcp.StreamableClientTransport, in the form
// of one http.RoundTripper.
//
// The SDK keeps the session; this package keeps what the SDK loses. It hands
// out the bytes of a result as the server wrote them, sends the bytes of a
// request as the editor wrote them, says which call a server's request belongs
// to, and turns every answer that would end the SDK's session into the failure
// of one call.
//
//	c := streamable.NewClient(streamable.Options{…})        // one per session
//	t := &mcp.StreamableClientTransport{Endpoint: url, HTTPClient: c}
//	s, err := client.Connect(ctx, t, nil)
//	raw, err := streamable.Do(ctx, s, "tools/call", params, nil)
//
// What it promises:
//
//   - Bytes. A call made with [Do] (or with an [Exchange] in its context) sends
//     Exchange.Params unchanged but for the _meta members that the SDK adds,
//     and Exchange.Result is what came. The SDK sees a stub and decodes nothing.
//   - Attribution. A server's request or notification on the stream of a POST
//     is reported with the context of that call, also when the stream had to be
//     resumed by GET and Last-Event-ID; on the standalone stream, and on
//     subscriptions/listen, with a context that has no Exchange.
//   - Order. Events are passed on one by one as they arrive, never gathered; the
//     hooks see them in the order of their stream, before the SDK does.
//   - Life. No answer ends the session: not junk, not HTML, not a stream that
//     stops. A lost session (404 and its disguises) fails the call with
//     [ErrSessionLost] and is reported once through Options.OnSessionLost;
//     connecting again is the owner's business. Listening streams that close are
//     opened again below the SDK, with back-off, for as long as the session lives.
//   - Silence. Header values are in no error and in no log line; a redirect to
//     another origin is refused before anything is sent there.
//   - Bounds. A body or an event over Options.MaxBody fails its call with
//     [ResultTooLargeError]; nothing is held beyond that.
//
// It has no overall time limit: a call lives as long as its context. It does not
// retry calls, reconnect sessions, or cache. Options and the client may be used
// from any goroutine; the hooks are called from the goroutine that reads the
// stream and must return soon.
//
// Do not set StreamableClientTransport.OAuthHandler: authorization runs through
// Options.Headers and Options.Authorize, where a refusal does not end the session.
package streamable
