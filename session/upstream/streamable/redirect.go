package streamable

import (
	"net"
	"net/http"
	"net/url"
	"strings"
)

// maxRedirects bounds the hops of one request.
const maxRedirects = 5

// checkRedirect follows a redirect within the origin that keeps the method, as
// 307 and 308 do (the body goes along). It refuses another origin, which would
// get the session id and the configured headers, and a POST that would become
// a GET: the URL in the configuration is wrong then, and the error names the right one.
func checkRedirect(req *http.Request, via []*http.Request) error {
	first := via[0]
	e := &RedirectError{From: origin(first.URL), To: origin(req.URL), Target: bare(req.URL)}
	if req.Response != nil {
		e.Status = req.Response.StatusCode
	}
	switch {
	case e.From != e.To:
		e.Reason = "refused, it is another origin; if this is right, configure that URL"
	case req.Method != first.Method:
		e.Reason = "not followed, as " + first.Method + " would become " + req.Method + "; configure that URL"
	case len(via) > maxRedirects:
		e.Reason = "too many redirects"
	default:
		return nil
	}
	return e
}

// origin returns scheme, host and port of u, comparable byte by byte.
func origin(u *url.URL) string {
	scheme := strings.ToLower(u.Scheme)
	port := u.Port()
	if port == "" {
		switch scheme {
		case "http":
			port = "80"
		case "https":
			port = "443"
		}
	}
	return scheme + "://" + net.JoinHostPort(strings.ToLower(u.Hostname()), port)
}

// bare returns u without what may be secret in it.
func bare(u *url.URL) string {
	b := *u
	b.User, b.RawQuery, b.ForceQuery, b.Fragment, b.RawFragment = nil, "", false, "", ""
	return b.String()
}
