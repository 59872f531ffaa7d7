package config

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/mcp-sidecar/mcp-sidecar/protocol/secret"
)

// Layer names a source of configuration.
type Layer string

// The layers, low to high.
const (
	LayerDefaults   Layer = "defaults"   // filled in by this package
	LayerUser       Layer = "user"       // config.toml, or the file of --config
	LayerFlags      Layer = "flags"      // -c key=value
	LayerInitialize Layer = "initialize" // initialize.config
	LayerThread     Layer = "thread"     // thread/start.config
)

// Origin says where a key is written. Path is set for files only. Line and
// Column count from 1, columns in characters; 0 means unknown.
type Origin struct {
	Layer  Layer  `json:"layer"`
	Path   string `json:"path,omitempty"`
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
}

// String writes an origin as file:line:column, or as the name of its source.
func (o Origin) String() string {
	switch {
	case o.Path != "" && o.Line > 0:
		return fmt.Sprintf("%s:%d:%d", o.Path, o.Line, o.Column)
	case o.Path != "":
		return o.Path
	case o.Layer == LayerFlags:
		return "-c"
	case o.Layer == LayerInitialize:
		return "initialize.config"
	case o.Layer == LayerThread:
		return "thread/start.config"
	}
	return string(o.Layer)
}

// A Problem is something wrong in the configuration, said so that a person
// finds and mends it. Neither part quotes a value that may be a secret.
type Problem struct {
	Origin
	Server  string `json:"server,omitempty"` // the entry it is about, "" for none
	Key     string `json:"key,omitempty"`    // dotted TOML key, "" for a whole file
	Message string `json:"message"`          // what is wrong, to be read after the key
	Hint    string `json:"hint,omitempty"`   // what to do, may be empty
}

// Error writes the whole problem on one line: where: key: what (hint).
func (p Problem) Error() string {
	var b strings.Builder
	b.WriteString(p.Origin.String())
	if p.Key != "" {
		b.WriteString(": " + p.Key)
	}
	b.WriteString(": " + p.Message)
	if p.Hint != "" {
		b.WriteString(" (" + p.Hint + ")")
	}
	return b.String()
}

// String is Error, so that a problem never prints as the name of its origin.
func (p Problem) String() string { return p.Error() }

// Config is one merged configuration. It does not change after Load.
type Config struct {
	// Servers lists every entry, sorted by name, disabled and broken ones too.
	Servers []Server
	// Problems lists what is wrong outside of servers, and every warning. What
	// keeps a server from starting is in that server's Invalid.
	Problems []Problem

	// ApprovalPolicy is a JSON string (untrusted, on-request or never) or
	// {"granular":{…}} with all five of Codex's booleans. A configured
	// on-failure is given as on-request.
	ApprovalPolicy json.RawMessage
	// ApprovalRules are the rules of all layers together, low to high.
	ApprovalRules []ApprovalRule
	// ApprovalTemplates are questions by server (or "*") and raw tool name; an
	// empty one is none.
	ApprovalTemplates map[string]map[string]string
	// OptionalStartupGrace is how long a freeze waits for servers that are not
	// required; 0 means up to their own start-up limits.
	OptionalStartupGrace time.Duration
	// IdleTimeout is how long a connection nobody uses is kept; 0 is not at all.
	IdleTimeout time.Duration
	// ToolNamePrefix puts mcp__ before callable names. Servers may differ.
	ToolNamePrefix bool
	// DirectToolsTokenBudget bounds the direct tools of a binding, in
	// approximate tokens.
	DirectToolsTokenBudget int
	// OAuthCallbackPort is the loopback port for logins; 0 is any free one.
	OAuthCallbackPort int
	// OAuthCallbackURL is the redirect URL for logins; "" is the loopback one.
	OAuthCallbackURL string
	// OAuthCredentialsStore says where tokens are kept.
	OAuthCredentialsStore CredentialsStore

	root *node // merged, defaults of servers not yet filled in
}

// Server finds a server by its exact name.
func (c *Config) Server(name string) (*Server, bool) {
	i, ok := slices.BinarySearchFunc(c.Servers, name, func(s Server, name string) int { return strings.Compare(s.Name, name) })
	if !ok {
		return nil, false
	}
	return &c.Servers[i], true
}

// Version is a digest that changes when anything in the configuration does,
// values of secrets included, and not when a file is merely reformatted. It
// is Codex's version of an origin.
func (c *Config) Version() string {
	h := sha256.New()
	h.Write(c.Effective())
	for _, r := range c.ApprovalRules {
		fmt.Fprintf(h, "%q", r.Matches) // may be masked
	}
	fmt.Fprintf(h, "%q", c.ApprovalTemplates) // sorted by key
	for i := range c.Servers {
		h.Write([]byte(c.Servers[i].Identity()))
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}

// CredentialsStore is where OAuth tokens are kept.
type CredentialsStore string

// The stores; auto takes the keyring when there is one.
const (
	StoreAuto    CredentialsStore = "auto"
	StoreKeyring CredentialsStore = "keyring"
	StoreFile    CredentialsStore = "file"
)

// Transport is how a server is reached.
type Transport string

// The transports. An entry that names none or both has "".
const (
	TransportStdio Transport = "stdio"
	TransportHTTP  Transport = "http"
)

// ApprovalMode says when a tool needs a person's consent (spec 7).
type ApprovalMode string

// The approval modes.
const (
	ApprovalAuto    ApprovalMode = "auto"    // as the tool's annotations suggest
	ApprovalPrompt  ApprovalMode = "prompt"  // always
	ApprovalWrites  ApprovalMode = "writes"  // unless the tool is read-only
	ApprovalApprove ApprovalMode = "approve" // never
)

// Readiness says when a server counts as started.
type Readiness string

// The kinds of readiness.
const (
	ReadyConnection Readiness = "connection" // connected and listed
	ReadyCatalog    Readiness = "catalog"    // a valid cached catalog is enough
)

// Isolation says who may share a connection.
type Isolation string

// The kinds of isolation.
const (
	IsolationShared Isolation = "shared" // all threads with an equal identity
	IsolationThread Isolation = "thread" // one thread
)

// EnvInherit says what a child gets of the sidecar's environment.
type EnvInherit string

// The kinds of inheritance; env_vars and env are added to each.
const (
	InheritCore EnvInherit = "core" // the documented list
	InheritAll  EnvInherit = "all"
	InheritNone EnvInherit = "none"
)

// Exposure says how tools are shown to the model (spec 6.3).
type Exposure string

// The kinds of exposure.
const (
	ExposureAuto     Exposure = "auto"
	ExposureDirect   Exposure = "direct"
	ExposureDeferred Exposure = "deferred"
	ExposureHidden   Exposure = "hidden"
)

// Restart says what happens after a server died.
type Restart string

// The kinds of restart.
const (
	RestartOnFailure Restart = "on-failure"
	RestartNever     Restart = "never"
)

// A Surface is a place where tools can be kept from being shown.
type Surface string

// The surfaces of omit_tools_from.
const (
	SurfaceCodeMode Surface = "code_mode"
	SurfaceDeferred Surface = "deferred"
	SurfaceDirect   Surface = "direct"
)

// A Server is one entry of mcp_servers, with defaults filled in and
// ${…} expanded. It prints and marshals without its secrets.
type Server struct {
	Name      string
	Transport Transport
	Enabled   bool // false: listed, never started
	Required  bool // its failure to start fails thread/start

	// Stdio or HTTP is set according to Transport, and neither when Invalid is
	// not empty, so that a broken entry cannot be started by oversight.
	Stdio *Stdio
	HTTP  *HTTP

	StartupTimeout time.Duration // spawn, handshake and listing together
	ToolTimeout    time.Duration // one call

	EnabledTools    []string // raw names; nil is all, empty is none
	DisabledTools   []string // raw names; wins over EnabledTools
	DefaultApproval ApprovalMode
	Tools           map[string]ToolRule // by raw tool name

	SupportsParallel    bool
	InputSchemaMaxBytes int
	StartupReadiness    Readiness
	OmitToolsFrom       []Surface
	Isolation           Isolation
	ProtocolVersion     string // "" negotiates; else the one version to speak
	EnvInherit          EnvInherit
	Exposure            Exposure
	Restart             Restart
	ToolNamePrefix      bool // the entry's own, else the top level's

	// Origin is where the entry's command or url is written (the highest layer
	// that has one), Shadowed the other layers that write this entry below it,
	// high to low.
	Origin   Origin
	Shadowed []Origin
	// Invalid lists all that keeps the entry from starting: kind configInvalid.
	// A disabled entry is checked too.
	Invalid []Problem

	// Declared is a digest of what the entry says the server is (command, args,
	// env, url, headers and so on), as written: other than Identity it is the
	// same in another folder or environment. It ends an approval for good.
	Declared string

	secrets []string
	digest  string
}

// Startable reports whether the entry is enabled and sound.
func (s *Server) Startable() bool { return s.Enabled && len(s.Invalid) == 0 }

// Allows reports whether the filters let a raw tool name through: the deny
// list wins, then the tool's own enabled=false, then the allow list.
func (s *Server) Allows(tool string) bool {
	if slices.Contains(s.DisabledTools, tool) {
		return false
	}
	if rule, ok := s.Tools[tool]; ok && rule.Enabled != nil && !*rule.Enabled {
		return false
	}
	return s.EnabledTools == nil || slices.Contains(s.EnabledTools, tool)
}

// Approval is the mode that holds for a raw tool name.
func (s *Server) Approval(tool string) ApprovalMode {
	if mode := s.Tools[tool].ApprovalMode; mode != "" {
		return mode
	}
	return s.DefaultApproval
}

// CallTimeout is the limit of one call of a raw tool name.
func (s *Server) CallTimeout(tool string) time.Duration {
	if t := s.Tools[tool].Timeout; t != nil {
		return *t
	}
	return s.ToolTimeout
}

// A ToolRule is what the configuration says of one tool.
type ToolRule struct {
	ApprovalMode     ApprovalMode   // "" takes the server's
	OutputTokenLimit int            // 0 takes the thread's
	Enabled          *bool          // nil leaves it to the lists
	Timeout          *time.Duration // nil takes the server's
	Annotations      Annotations    // replace what the server claims
}

// Annotations are a person's own view of a tool's hints; nil leaves the
// server's. The keys are those of MCP: readOnlyHint and so on.
type Annotations struct {
	Title       *string
	ReadOnly    *bool
	Destructive *bool
	Idempotent  *bool
	OpenWorld   *bool
}

// Stdio is how to start a server as a child process.
type Stdio struct {
	Command string   // as written; looked up in the PATH of Env
	Args    []string // exact vector, never through a shell
	Cwd     string   // absolute where Sources.Cwd is; may not exist
	Env     []string // the child's whole environment, K=V, sorted, each name once
}

// HTTP is how to reach a server over Streamable HTTP.
type HTTP struct {
	URL string // http or https, may hold a secret: show SafeURL
	// Headers are the static ones and those from the environment.
	Headers http.Header
	// Bearer is the value of the variable BearerTokenEnvVar names, "" without
	// one. It wins over an Authorization header.
	BearerTokenEnvVar string
	Bearer            secret.Value
	// HeadersHelper is a shell command that prints a JSON object of headers.
	HeadersHelper string

	Scopes        []string // nil leaves the choice to the server
	OAuthResource string   // RFC 8707
	OAuth         OAuth
}

// OAuth is a client registered beforehand; the zero value is none.
type OAuth struct {
	ClientID           string
	ClientSecretEnvVar string
	ClientSecret       secret.Value
	CallbackPort       int    // 0 takes Config.OAuthCallbackPort
	CallbackURL        string // "" takes Config.OAuthCallbackURL
}

// SafeURL is URL with user, query values and fragment masked.
func (h *HTTP) SafeURL() string { return maskURL(h.URL) }
