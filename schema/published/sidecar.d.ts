// Generated from package protocol by "go run ./schema/gen". DO NOT EDIT.
//
// The protocol between an editor and mcp-sidecar, version 0.1.0: one JSON-RPC 2.0 message a line.
// Ignore members that you don't know, and expect new words in the unions of strings: both come with
// a minor version.

/** Requests that the editor sends, by method. */
export interface EditorRequests {
  /**
   * `initialize` opens the connection. It must be the first request; a second one is refused with
   * kind alreadyInitialized.
   */
  "initialize": { params: InitializeParams; result: InitializeResult };
  /**
   * `shutdown` asks the sidecar to finish: requests that were read are answered, new ones are
   * refused with kind shuttingDown. An exit notification then ends the process with code 0.
   */
  "shutdown": { params: ShutdownParams; result: null };
  /**
   * `thread/start` opens a thread and begins to start its servers. It waits for required servers
   * only (and for others as long as waitForServersMs says); a required server that fails makes it
   * fail with kind requiredServerFailed, naming all that failed.
   */
  "thread/start": { params: ThreadStartParams; result: ThreadStartResult };
  /** `thread/list` lists the open threads, oldest first. */
  "thread/list": { params: ThreadListParams; result: ThreadListResult };
  /** `thread/read` returns one open thread. */
  "thread/read": { params: ThreadReadParams; result: ThreadReadResult };
  /**
   * `thread/close` closes a thread: its calls are cancelled, its open questions are closed, its
   * servers end in the background.
   */
  "thread/close": { params: ThreadCloseParams; result: ThreadCloseResult };
  /**
   * `thread/settings/update` changes policy, model or servers for the next step. Absent fields
   * stay as they are; bindings that were frozen stay valid.
   */
  "thread/settings/update": { params: ThreadSettingsUpdateParams; result: ThreadSettingsUpdateResult };
  /**
   * `thread/binding/freeze` takes the exact catalogue of tools that a model is shown in one step.
   * It waits for servers that are still starting, at most the start-up grace (or waitMs). An
   * unchanged catalogue keeps its id.
   */
  "thread/binding/freeze": { params: BindingFreezeParams; result: BindingFreezeResult };
  /**
   * `thread/binding/read` returns one of the last 16 bindings of a thread; an older one is refused
   * with kind bindingExpired.
   */
  "thread/binding/read": { params: BindingReadParams; result: BindingReadResult };
  /**
   * `thread/tool/call` carries out a model's call of a bound tool: approval, the call itself, and
   * the result in the shape a model reads. What the model should know (a decline, a time-out, a
   * tool that is gone) is a result; only a mistake of the editor is an error.
   */
  "thread/tool/call": { params: ThreadToolCallParams; result: ThreadToolCallResult };
  /**
   * `mcpServer/tool/call` carries out a call by raw names, for a person who pressed a button. The
   * thread's approval policy holds. The result is the server's, byte for byte.
   */
  "mcpServer/tool/call": { params: ServerToolCallParams; result: ServerToolCallResult };
  /**
   * `mcpServer/elicitation/resolve` answers a question that came as an event. An answer that does
   * not fit the form is refused with the place (data.pointer), and the question stays open; one
   * that is too late, or the second, is refused with kind questionClosed.
   */
  "mcpServer/elicitation/resolve": { params: ElicitationResolveParams; result: ElicitationResolveResult };
  /** `approval/list` lists what a person allowed for longer than one call. */
  "approval/list": { params: ApprovalListParams; result: ApprovalListResult };
  /**
   * `approval/revoke` takes approvals back. One for good is taken out of the file that it was
   * written in, and ends in every open thread. A file that can't be changed makes it fail with
   * kind configNotWritten: what was taken back before stays so, the rest is as it was.
   */
  "approval/revoke": { params: ApprovalRevokeParams; result: ApprovalRevokeResult };
  /**
   * `mcpServerStatus/list` says how each configured server is and what it offers. It never starts
   * a server.
   */
  "mcpServerStatus/list": { params: ServerStatusListParams; result: ServerStatusListResult };
  /** `mcpServer/resource/list` lists the resources of a server, one page a request. */
  "mcpServer/resource/list": { params: ResourceListParams; result: ResourceListResult };
  /**
   * `mcpServer/resource/templates/list` lists the resource templates of a server, one page a
   * request.
   */
  "mcpServer/resource/templates/list": { params: ResourceTemplatesListParams; result: ResourceTemplatesListResult };
  /**
   * `mcpServer/resource/read` reads a resource of a server. The result is the server's, byte for
   * byte.
   */
  "mcpServer/resource/read": { params: ResourceReadParams; result: ResourceReadResult };
  /** `mcpServer/prompt/list` lists the prompts of a server, one page a request. */
  "mcpServer/prompt/list": { params: PromptListParams; result: PromptListResult };
  /**
   * `mcpServer/prompt/get` gets a prompt of a server with its arguments filled in. The result is
   * the server's, byte for byte.
   */
  "mcpServer/prompt/get": { params: PromptGetParams; result: PromptGetResult };
  /**
   * `config/read` returns the effective configuration, with secrets masked, and the origin of each
   * key.
   */
  "config/read": { params: ConfigReadParams; result: ConfigReadResult };
}

/** Requests that the sidecar sends and the editor answers, by method. */
export interface SidecarRequests {
  /**
   * `mcpServer/elicitation/request` is a question for a person: a server's own, or (with
   * _meta.codex_approval_kind "mcp_tool_call") whether a tool may run.
   */
  "mcpServer/elicitation/request": { params: ElicitationRequestParams; result: ElicitationRequestResult };
}

/** All requests, by method. */
export interface Methods extends EditorRequests, SidecarRequests {}

/** Notifications that the editor sends: the params by method. */
export interface EditorNotifications {
  /**
   * `initialized` has no members: the editor has seen the reply to initialize. The sidecar does
   * not wait for it.
   */
  "initialized": InitializedParams;
  /** `exit` has no members: the process ends, with code 0 after a shutdown and 1 without. */
  "exit": ExitParams;
  /**
   * `$/cancelRequest` names a request of the sender that became pointless. It is still answered,
   * with code -32800 or, for a tool call that had started, with a result whose status is
   * cancelled. The sidecar sends it too.
   */
  "$/cancelRequest": CancelRequestParams;
}

/** Notifications that the sidecar sends: the params by method. */
export interface SidecarNotifications {
  /**
   * `$/cancelRequest` names a request of the sender that became pointless. It is still answered,
   * with code -32800 or, for a tool call that had started, with a result whose status is
   * cancelled. The sidecar sends it too.
   */
  "$/cancelRequest": CancelRequestParams;
  /**
   * `mcpServer/elicitation/requested` is a question for a person, to an editor that wants them as
   * events.
   */
  "mcpServer/elicitation/requested": ElicitationRequestedNotification;
  /** `thread/started` says that a thread was opened. */
  "thread/started": ThreadStartedNotification;
  /** `thread/closed` says that a thread was closed. */
  "thread/closed": ThreadClosedNotification;
  /** `thread/status/changed` says what a thread is doing now. */
  "thread/status/changed": ThreadStatusChangedNotification;
  /** `thread/binding/changed` hints that a new freeze would differ. */
  "thread/binding/changed": BindingChangedNotification;
  /** `item/started` says that a call began. Its approval comes after. */
  "item/started": ItemStartedNotification;
  /** `item/mcpToolCall/progress` is a server's progress report on a call. */
  "item/mcpToolCall/progress": ItemProgressNotification;
  /**
   * `item/completed` says that a call ended. It always follows item/started and comes before the
   * reply. A result above 1 MiB is left out here (resultOmitted); the reply has it.
   */
  "item/completed": ItemCompletedNotification;
  /** `mcpServer/startupStatus/updated` is a step of a server's start. */
  "mcpServer/startupStatus/updated": StartupStatusUpdatedNotification;
  /**
   * `mcpServer/startup/completed` says that every server of a thread has ended its start, one way
   * or another.
   */
  "mcpServer/startup/completed": StartupCompletedNotification;
  /**
   * `serverRequest/resolved` says that a question of the sidecar is closed: answered, or pointless
   * now.
   */
  "serverRequest/resolved": RequestResolvedNotification;
  /** `configWarning` is a problem in the configuration. Everything else goes on. */
  "configWarning": ConfigWarningNotification;
  /** `warning` is something a person should know; nothing stopped. */
  "warning": WarningNotification;
}

/** A request of one of the methods of a map. */
export type RequestOf<Map> = {
  [M in keyof Map]: { jsonrpc: "2.0"; id: AnyID; method: M; params: Map[M] extends { params: infer P } ? P : never };
}[keyof Map];

/** A notification of one of the methods of a map. */
export type NotificationOf<Map> = {
  [M in keyof Map]: { jsonrpc: "2.0"; method: M; params: Map[M] };
}[keyof Map];

/** The reply to a request that was carried out. */
export interface SuccessResponse<M extends keyof Methods = keyof Methods> {
  jsonrpc: "2.0";
  id: AnyID;
  result: Methods[M]["result"];
}

/** The reply to a request that failed. The id is null when the request's own could not be read. */
export interface ErrorResponse {
  jsonrpc: "2.0";
  id: AnyID | null;
  error: ErrorObject;
}

/** One line that an editor sends. */
export type EditorMessage =
  | RequestOf<EditorRequests>
  | NotificationOf<EditorNotifications>
  | SuccessResponse<keyof SidecarRequests>
  | ErrorResponse;

/** One line that the sidecar sends. */
export type SidecarMessage =
  | RequestOf<SidecarRequests>
  | NotificationOf<SidecarNotifications>
  | SuccessResponse<keyof EditorRequests>
  | ErrorResponse;

/** Why a request failed. An editor's own errors may have any code, and no data. */
export interface ErrorObject {
  /** An ErrorCode in an error of the sidecar. */
  code: number;
  message: string;
  /** Always there in an error of the sidecar. Switch on its kind. */
  data?: ErrorData;
}

/** The codes of the sidecar's errors. One code has several kinds. */
export type ErrorCode = -32700 | -32600 | -32601 | -32602 | -32603 | -32001 | -32800 | -32803;

/**
 * The code of each error kind, and whether the same request may succeed later. Code null: the kind
 * only occurs in notifications and status rows.
 */
export interface ErrorKinds {
  parseError: { code: -32700; retryable: false };
  invalidRequest: { code: -32600; retryable: false };
  lineTooLong: { code: -32600; retryable: false };
  duplicateId: { code: -32600; retryable: false };
  notInitialized: { code: -32600; retryable: false };
  alreadyInitialized: { code: -32600; retryable: false };
  shuttingDown: { code: -32600; retryable: false };
  methodNotFound: { code: -32601; retryable: false };
  invalidParams: { code: -32602; retryable: false };
  internal: { code: -32603; retryable: false };
  overloaded: { code: -32001; retryable: true };
  cancelled: { code: -32800; retryable: false };
  unknownThread: { code: -32602; retryable: false };
  unknownServer: { code: -32602; retryable: false };
  unknownTool: { code: -32602; retryable: false };
  unknownBinding: { code: -32602; retryable: false };
  bindingExpired: { code: -32803; retryable: false };
  unknownQuestion: { code: -32602; retryable: false };
  questionClosed: { code: -32803; retryable: false };
  unknownApproval: { code: -32602; retryable: false };
  declined: { code: -32803; retryable: false };
  serverDisabled: { code: -32803; retryable: false };
  serverFailed: { code: -32803; retryable: true };
  requiredServerFailed: { code: -32803; retryable: true };
  configInvalid: { code: -32803; retryable: false };
  commandNotFound: { code: -32803; retryable: false };
  notExecutable: { code: -32803; retryable: false };
  cwdMissing: { code: -32803; retryable: false };
  exited: { code: -32803; retryable: true };
  timeout: { code: -32803; retryable: true };
  protocolError: { code: -32803; retryable: false };
  versionUnsupported: { code: -32803; retryable: false };
  unreachable: { code: -32803; retryable: true };
  httpStatus: { code: -32803; retryable: true };
  authRequired: { code: -32803; retryable: false };
  upstreamError: { code: -32803; retryable: false };
  resultTooLarge: { code: -32803; retryable: false };
  ambiguousDelivery: { code: -32803; retryable: false };
  clientUnsupported: { code: null; retryable: false };
  serverStdoutNoise: { code: null; retryable: false };
  catalogTruncated: { code: null; retryable: false };
  toolOmitted: { code: null; retryable: false };
  configNotWritten: { code: -32803; retryable: false };
}

/** InitializeParams opens a connection. */
export interface InitializeParams {
  clientInfo: ClientInfo;
  /** `processId` is the process of the editor; when it ends, the sidecar ends. */
  processId?: number | null;
  workspaceFolders?: WorkspaceFolder[] | null;
  capabilities?: ClientCapabilities | null;
  /** `config` is a layer over the configuration files: an object with the keys of config.toml. */
  config?: unknown;
}

/** ClientInfo names the editor or extension. */
export interface ClientInfo {
  name: string;
  title?: string | null;
  version?: string | null;
}

/** WorkspaceFolder is a folder open in the editor. Its uri has the scheme file. */
export interface WorkspaceFolder {
  uri: string;
  name?: string | null;
}

/**
 * ClientCapabilities says what the editor can do. A client that sends no mcp member is treated
 * like a Codex client: approvals and form questions on, the rest off.
 */
export interface ClientCapabilities {
  /** `experimentalApi` is accepted for compatibility; no method needs it. */
  experimentalApi?: boolean | null;
  /** `optOutNotificationMethods` lists notifications that are not wanted, by exact name. */
  optOutNotificationMethods?: string[] | null;
  mcp?: MCPCapabilities | null;
}

/**
 * MCPCapabilities says what the editor can do for MCP servers. What is absent is not asked: policy
 * decides, and the reason says so.
 */
export interface MCPCapabilities {
  /** The editor shows the question whether a tool may run. */
  approvals?: boolean | null;
  /** The editor shows servers' own questions. */
  elicitation?: ElicitationCapability | null;
}

/** ElicitationCapability says which questions the editor can show. */
export interface ElicitationCapability {
  /** Questions with fields. */
  form?: boolean | null;
  /** Questions that send the person to a web page. */
  url?: boolean | null;
  /** `delivery` says how questions and approvals come; absent is request. */
  delivery?: Delivery | null;
  /** Fields that an answer leaves out get the form's defaults. */
  applyDefaults?: boolean | null;
}

/** Delivery is the way in which a question comes to the editor. */
export type Delivery =
  /** The request mcpServer/elicitation/request, whose result is the answer. */
  | "request"
  /**
   * The notification mcpServer/elicitation/requested, which is answered with the request
   * mcpServer/elicitation/resolve.
   */
  | "event";

/** InitializeResult describes the sidecar. */
export interface InitializeResult {
  userAgent: string;
  /**
   * `codexHome` is the sidecar's own folder, where the user's config.toml lies (the name is
   * Codex's).
   */
  codexHome: string;
  /** `platformFamily` is "unix" or "windows". */
  platformFamily: string;
  /** `platformOs` is "linux", "macos", "windows" or another system's name. */
  platformOs: string;
  serverInfo: ServerInfo;
  /** `protocolVersion` is the semantic version of this protocol. */
  protocolVersion: string;
  /** `mcpVersions` lists the MCP revisions spoken to servers, newest first. */
  mcpVersions: string[];
  capabilities: Capabilities;
}

/** ServerInfo names the sidecar or an MCP server. */
export interface ServerInfo {
  name: string;
  title?: string;
  version: string;
}

/** Capabilities says what this sidecar offers. */
export interface Capabilities {
  /** `methods` lists the requests that an editor may send. */
  methods: string[];
  /** `notifications` lists the notifications that the sidecar may send. */
  notifications: string[];
  /** `limits` gives the bounds in force by name, in bytes, milliseconds or counts as the name says. */
  limits: Record<string, number>;
}

/** ShutdownParams has no members. */
export interface ShutdownParams {
  [member: string]: unknown;
}

/** ThreadStartParams opens a thread. */
export interface ThreadStartParams {
  /**
   * `cwd` is the thread's working folder, absolute; absent means the first workspace folder, else
   * the sidecar's own.
   */
  cwd?: string | null;
  workspaceRoots?: string[] | null;
  approvalPolicy?: ApprovalPolicy | null;
  sandbox?: SandboxMode | null;
  /**
   * `config` is a layer over everything else: an object with the keys of config.toml. It may bring
   * its own mcp_servers.
   */
  config?: unknown;
  servers?: ServerSelection | null;
  model?: ModelParam | null;
  modelProvider?: string | null;
  ephemeral?: boolean | null;
  /**
   * `waitForServersMs` holds the reply until every server is ready or failed, at most so long.
   * Required servers are waited for in any case.
   */
  waitForServersMs?: number | null;
}

/**
 * ApprovalPolicy says when a person is asked: a word of PolicyMode or, as an object, a
 * GranularPolicy.
 */
export type ApprovalPolicy = PolicyMode | GranularPolicy;

/** PolicyMode is a plain approval policy. */
export type PolicyMode = "untrusted" | "on-failure" | "on-request" | "never";

/** GranularPolicy asks by kind of question. */
export interface GranularPolicy {
  granular: GranularRules;
}

/**
 * GranularRules are the switches of a GranularPolicy. Only mcp_elicitations means something to the
 * sidecar: false declines every question of a server.
 */
export interface GranularRules {
  mcp_elicitations: boolean;
  request_permissions?: boolean;
  rules: boolean;
  sandbox_approval: boolean;
  skill_approval?: boolean;
}

/**
 * SandboxMode says how far the agent is trusted. The sidecar sandboxes nothing: danger-full-access
 * together with policy never runs tools unasked.
 */
export type SandboxMode = "read-only" | "workspace-write" | "danger-full-access";

/**
 * ServerSelection narrows a thread to some of the configured servers. An absent include means all;
 * exclude wins.
 */
export interface ServerSelection {
  include?: ServerName[];
  exclude?: ServerName[];
}

/** ServerName is the key of a server's table in the configuration. It is a raw name: any TOML key. */
export type ServerName = string;

/**
 * ModelParam says which model reads the tools: its name alone, as Codex clients send it, or a
 * ModelSettings.
 */
export type ModelParam = string | ModelSettings;

/** ModelSettings describes the model that reads the tools. */
export interface ModelSettings {
  /** `name` is echoed in replies. */
  name?: string;
  /** `format` is the dialect of tool specifications; absent means openai-responses. */
  format?: SpecFormat;
  /**
   * The model knows namespaces of tools (openai-responses). Absent means yes for that format; the
   * others have none.
   */
  namespaces?: boolean;
  /** Images in results are handed on; else they become a sentence. */
  imageInput?: boolean;
  /** The same for audio. */
  audioInput?: boolean;
  /** `maxTools` bounds the direct tools of a binding; 0 means no bound. */
  maxTools?: number;
  /**
   * `nameMaxLength` bounds a callable name in bytes, namespace and separator included; 0 means the
   * dialect's own limit (64 or 128).
   */
  nameMaxLength?: number;
  /** `outputTokenLimit` cuts what the model reads of a result; 0 means 10,000. */
  outputTokenLimit?: number;
}

/** SpecFormat is a provider's dialect for tool specifications. */
export type SpecFormat = "openai-responses" | "openai-chat" | "anthropic" | "gemini" | "mcp";

/** ThreadStartResult describes the opened thread. */
export interface ThreadStartResult {
  thread: Thread;
  model: string;
  modelProvider: string;
  cwd: string;
  approvalPolicy: ApprovalPolicy;
  approvalsReviewer: ApprovalsReviewer;
  sandbox: SandboxPolicy;
  startup: Startup;
}

/**
 * Thread describes an open thread in Codex's shape. Fields of turns and history are empty: the
 * sidecar keeps none.
 */
export interface Thread {
  id: ThreadID;
  sessionId: string;
  projectId: string | null;
  preview: string;
  ephemeral: boolean;
  modelProvider: string;
  model?: string;
  /** seconds since 1970 */
  createdAt: number;
  /** seconds since 1970 */
  updatedAt: number;
  status: ThreadStatus;
  cwd: string;
  cliVersion: string;
  source: ThreadSource;
  turns: ThreadTurn[];
  /** `bindings` counts the bindings that are kept. */
  bindings: number;
  /** `callsInFlight` counts the tool calls that are running. */
  callsInFlight: number;
}

/** ThreadID names a thread; the sidecar makes it at thread/start. */
export type ThreadID = string;

/** ThreadStatus says what a thread is doing. */
export interface ThreadStatus {
  type: ThreadStatusType;
  /** `activeFlags` is there when type is active. */
  activeFlags?: ThreadActiveFlag[];
}

/** ThreadStatusType is idle, or active while a call runs. */
export type ThreadStatusType = "idle" | "active";

/** ThreadActiveFlag says what an active thread waits for. */
export type ThreadActiveFlag = "waitingOnApproval" | "waitingOnUserInput";

/** ThreadSource says who opened a thread. */
export type ThreadSource =
  /** `appServer` is every thread's: an editor opened it. */
  | "appServer";

/** ThreadTurn is Codex's; the sidecar keeps no turns, so lists of them are empty. */
export interface ThreadTurn {
  id: string;
}

/** ApprovalsReviewer says who answers approvals. */
export type ApprovalsReviewer =
  /** `user` is the person at the editor. */
  | "user";

/** SandboxPolicy is a SandboxMode in the shape of Codex's replies. */
export interface SandboxPolicy {
  type: SandboxPolicyType;
}

/** SandboxPolicyType is the word for a SandboxMode in replies. */
export type SandboxPolicyType = "readOnly" | "workspaceWrite" | "dangerFullAccess";

/** Startup says how far a thread's servers are. */
export interface Startup {
  ready: ServerName[];
  pending: ServerName[];
  failed: StartupFailure[];
}

/** StartupFailure is a server that did not start. */
export interface StartupFailure {
  name: ServerName;
  kind: Kind;
  error: string;
}

/**
 * Kind is the stable word for what went wrong. Editors switch on it. The list is closed; a word is
 * never renamed, and new words come with a minor version.
 */
export type Kind =
  /** The line is not one JSON value in UTF-8. The session goes on at the next line. */
  | "parseError"
  /** The line is JSON but no JSON-RPC message: a batch, a bad id, neither request nor response. */
  | "invalidRequest"
  /** The line is over the limit and was skipped. */
  | "lineTooLong"
  /** A request with this id is in flight. */
  | "duplicateId"
  /** initialize must come first. */
  | "notInitialized"
  /** initialize came a second time. */
  | "alreadyInitialized"
  /** The sidecar is ending and takes no new requests. */
  | "shuttingDown"
  /** There is no such method. */
  | "methodNotFound"
  /** The params do not fit; data.pointer names the place. */
  | "invalidParams"
  /** A fault of the sidecar; the log has a stack under the crash id. */
  | "internal"
  /** Too many requests in flight; retry after data.retryAfterMs. */
  | "overloaded"
  /** The editor cancelled the request. */
  | "cancelled"
  /** No such thread is open. */
  | "unknownThread"
  /** No such server is configured for the thread. */
  | "unknownServer"
  /** The binding or server has no such tool. */
  | "unknownTool"
  /** The thread never had such a binding. */
  | "unknownBinding"
  /** The binding is older than the last 16; freeze again. */
  | "bindingExpired"
  /** There is no such question, and was none. */
  | "unknownQuestion"
  /** The question is answered already, or became pointless; the message says which. */
  | "questionClosed"
  /** No such approval is remembered. */
  | "unknownApproval"
  /** The call needs an approval and did not get it; data.reason says why. */
  | "declined"
  /** The server is disabled in the configuration. */
  | "serverDisabled"
  /** The server is not there. */
  | "serverFailed"
  /** A required server did not start. */
  | "requiredServerFailed"
  /** The server's entry in the configuration is not usable. */
  | "configInvalid"
  /** The server's command was not found on its PATH. */
  | "commandNotFound"
  /** The server's command is not executable. */
  | "notExecutable"
  /** The server's working folder does not exist. */
  | "cwdMissing"
  /** The server's process ended. */
  | "exited"
  /** A time limit ran out. */
  | "timeout"
  /** The server does not speak MCP as it should. */
  | "protocolError"
  /** The server speaks no protocol revision that the sidecar knows. */
  | "versionUnsupported"
  /** The server's address could not be reached. */
  | "unreachable"
  /** The server answered with an HTTP error. */
  | "httpStatus"
  /** The server wants authorization. */
  | "authRequired"
  /** The server answered with an error; data.upstream has it. */
  | "upstreamError"
  /** The server's message is over the limit. */
  | "resultTooLarge"
  /** The connection was lost during the call; it may or may not have taken effect. */
  | "ambiguousDelivery"
  /** The editor does not know a request of the sidecar. */
  | "clientUnsupported"
  /** The server wrote a line to stdout that is no message; it was skipped. */
  | "serverStdoutNoise"
  /** The server's list went over a bound; what was read is kept. */
  | "catalogTruncated"
  /** A tool of the server is unusable and was left out. */
  | "toolOmitted"
  /** A configuration file could not be changed; the message says why. It is as it was. */
  | "configNotWritten";

/** ThreadListParams has no members that matter here; Codex's filters are ignored. */
export interface ThreadListParams {
  [member: string]: unknown;
}

/** ThreadListResult lists the open threads. */
export interface ThreadListResult {
  data: Thread[];
  nextCursor: string | null;
}

/** ThreadReadParams names a thread. */
export interface ThreadReadParams {
  threadId: ThreadID;
}

/** ThreadReadResult is one thread. */
export interface ThreadReadResult {
  thread: Thread;
  settings: ThreadSettings;
  startup: Startup;
}

/** ThreadSettings is what thread/settings/update may change. */
export interface ThreadSettings {
  approvalPolicy: ApprovalPolicy;
  sandbox: SandboxMode;
  model: ModelSettings;
  servers: ServerSelection;
}

/** ThreadCloseParams names a thread. */
export interface ThreadCloseParams {
  threadId: ThreadID;
}

/** ThreadCloseResult has no members. */
export interface ThreadCloseResult {
  [member: string]: unknown;
}

/**
 * ThreadSettingsUpdateParams changes a thread's settings for the next step. Absent members stay as
 * they are; one that is there replaces the whole.
 */
export interface ThreadSettingsUpdateParams {
  threadId: ThreadID;
  approvalPolicy?: ApprovalPolicy | null;
  sandbox?: SandboxMode | null;
  model?: ModelParam | null;
  servers?: ServerSelection | null;
}

/** ThreadSettingsUpdateResult is the settings now in force. */
export interface ThreadSettingsUpdateResult {
  settings: ThreadSettings;
}

/** BindingFreezeParams asks for the tools of the next step. */
export interface BindingFreezeParams {
  threadId: ThreadID;
  /**
   * `waitMs` bounds the wait for servers that are starting, instead of the configured grace.
   * Required servers are waited for in any case.
   */
  waitMs?: number | null;
  /**
   * `previousBindingId` is the binding that the model was shown before; changes are told against
   * it. Absent means the thread's last one.
   */
  previousBindingId?: BindingID | null;
}

/** BindingID names a binding of a thread; the sidecar makes it at thread/binding/freeze. */
export type BindingID = string;

/** BindingFreezeResult is the frozen binding. */
export interface BindingFreezeResult {
  binding: Binding;
  /** The previous binding is still exact, and this is it. */
  unchanged: boolean;
  changes?: BindingChanges;
}

/**
 * Binding is the exact catalogue of tools that a model is shown in one step. It never changes: the
 * same catalogue gives the same bytes and the same fingerprint, across runs and start-up orders.
 */
export interface Binding {
  id: BindingID;
  threadId: ThreadID;
  /** `revision` counts the different bindings of a thread from 1. */
  revision: number;
  /** `fingerprint` is the hex SHA-256 of format, tools and namespaces. */
  fingerprint: string;
  createdAtMs: number;
  /** `format` is the dialect of the specs. */
  format: SpecFormat;
  tools: BoundTool[];
  namespaces: Namespace[];
  pending: PendingServer[];
  omitted: OmittedTool[];
  totals: BindingTotals;
  /**
   * `specs` is the finished list for a provider's tools parameter: the direct tools, in namespaces
   * where the dialect has them.
   */
  specs: unknown[];
}

/** BoundTool is one tool of a binding. */
export interface BoundTool {
  /**
   * `name` and `namespace` are what the model calls. Dialects without namespaces call `flatName`
   * instead.
   */
  name: string;
  namespace: string;
  /** `flatName` is namespace and name as one callable name. */
  flatName: string;
  /** `server` and `tool` are the raw names. */
  server: ServerName;
  tool: ToolName;
  exposure: Exposure;
  /**
   * `spec` is the tool in the dialect of the binding, as a provider takes it. In openai-responses
   * with namespaces it is the function inside its namespace.
   */
  spec: unknown;
  annotations: Hints;
  /** Calls may run beside others of the same server. */
  parallelSafe: boolean;
  approval: ApprovalOutlook;
  /**
   * `definitionHash` is the hex SHA-256 of name, description, input schema and annotations in
   * canonical JSON.
   */
  definitionHash: string;
  /** `schemaBytes` is the size of the input schema in the spec. */
  schemaBytes: number;
  /** `approxTokens` estimates what the spec costs a model (bytes/4). */
  approxTokens: number;
  /** `changes` says how the spec differs from what the server offers. */
  changes?: SpecChange[];
  /** `ui` is the tool's _meta.ui (MCP Apps), as it came. */
  ui?: unknown;
}

/** ToolName is the raw name of a tool, as its server calls it. */
export type ToolName = string;

/** Exposure says how a tool of a binding reaches the model. */
export type Exposure =
  /** `direct` tools are in the model's list. */
  | "direct"
  /** `hidden` tools can be called by a person only. */
  | "hidden";

/**
 * Hints are a tool's annotations (MCP ToolAnnotations). Absent differs from false. They come from
 * the server and are not to be trusted beyond what the approval mode says.
 */
export interface Hints {
  title?: string;
  readOnlyHint?: boolean;
  destructiveHint?: boolean;
  idempotentHint?: boolean;
  openWorldHint?: boolean;
}

/**
 * ApprovalOutlook says what would be decided for a call of a tool now, if nothing were allowed for
 * the session and the arguments are not known: a rule with a condition for them asks.
 */
export type ApprovalOutlook = "allow" | "ask" | "deny";

/** SpecChange is one difference between a server's tool and its spec. */
export interface SpecChange {
  /** `path` is a JSON pointer into the tool, "" for the whole. */
  path: string;
  /** `change` says what was done, in words. */
  change: string;
}

/** Namespace groups the tools of one server. */
export interface Namespace {
  name: string;
  server: ServerName;
  /** `instructions` is the server's own text about its tools. */
  instructions?: string;
}

/** PendingServer is a server whose tools are not in the binding yet. */
export interface PendingServer {
  server: ServerName;
  state: ServerState;
}

/** ServerState is the state of a server in a thread. */
export type ServerState =
  | "notStarted"
  | "starting"
  | "connected"
  | "authenticationRequired"
  | "failed"
  | "cancelled"
  | "disabled";

/** OmittedTool is a tool that is not in the binding, with the reason. */
export interface OmittedTool {
  server: ServerName;
  /** `tool` is "" where the whole server, or an entry without a usable name, is meant. */
  tool: ToolName;
  reason: string;
  /** `path` is a JSON pointer into the tool, where one place is to blame. */
  path?: string;
}

/** BindingTotals sums a binding up. */
export interface BindingTotals {
  tools: number;
  direct: number;
  deferred: number;
  schemaBytes: number;
  approxTokens: number;
}

/** BindingChanges are the callable flat names that differ from another binding. */
export interface BindingChanges {
  added: string[];
  removed: string[];
  changed: string[];
}

/** BindingReadParams names a binding. */
export interface BindingReadParams {
  threadId: ThreadID;
  bindingId: BindingID;
}

/** BindingReadResult is one binding. */
export interface BindingReadResult {
  binding: Binding;
}

/** ThreadToolCallParams is a model's call of a bound tool. */
export interface ThreadToolCallParams {
  threadId: ThreadID;
  bindingId: BindingID;
  /**
   * `name` is the tool's name; with `namespace` where the dialect has them, else the flat name. A
   * flat name is understood in every dialect.
   */
  name: string;
  namespace?: string | null;
  /**
   * `arguments` is an object, or a string that holds one as JSON (as models give it). Absent, null
   * and "" mean none. An object reaches the server byte for byte.
   */
  arguments?: unknown;
  /** `callId` is the model's id of the call; absent, one is made. */
  callId?: CallID | null;
  turnId?: TurnID | null;
  /** `timeoutMs` tightens the configured time limit. */
  timeoutMs?: number | null;
  /** `_meta` is added to the request's _meta. */
  _meta?: unknown;
}

/**
 * CallID names one tool call. The editor may bring its own (the model's call id); otherwise the
 * sidecar makes one.
 */
export type CallID = string;

/** TurnID is the editor's own name for the turn a call belongs to. The sidecar only passes it on. */
export type TurnID = string;

/** ThreadToolCallResult is how a model's call ended. */
export interface ThreadToolCallResult {
  callId: CallID;
  status: CallStatus;
  reason?: Reason;
  server: ServerName;
  tool: ToolName;
  /** `result` is the server's own result, byte for byte. Absent when there was none. */
  result?: unknown;
  output: Output;
  approval: Approval;
  /** `durationMs` is the time of the call itself, without waiting for a person. */
  durationMs: number;
}

/** CallStatus says how a call ended. */
export type CallStatus = "completed" | "failed" | "declined" | "cancelled";

/** Reason says why a call did not complete, or completed with an error of the tool. */
export type Reason =
  /** The tool itself reported an error (isError). */
  | "toolError"
  /** The arguments are not a JSON object; nothing was sent. */
  | "invalidArguments"
  /** The tool is no longer in the live catalogue; nothing was sent. */
  | "toolGone"
  /** The server is not there. */
  | "serverFailed"
  /** The server answered with a protocol error. */
  | "upstreamError"
  /** The time limit ran out; the server was told. */
  | "timeout"
  /** The result is over the limit for one message. */
  | "resultTooLarge"
  /** The connection was lost while the call was under way; it may or may not have taken effect. */
  | "ambiguousDelivery"
  /** A person said no. */
  | "userDeclined"
  /** A person dismissed the question, or the answer was unclear. */
  | "userCancelled"
  /** An approval is needed and the policy never asks. */
  | "policyNever"
  /** An approval is needed and the editor can't ask. */
  | "clientUnsupported"
  /** A rule of the configuration (approval_rules) forbids it. */
  | "ruleDenied"
  /** The editor cancelled the request. */
  | "cancelled"
  /** The thread was closed while the call ran. */
  | "threadClosed";

/** Output is what the model reads of a result. */
export interface Output {
  items: OutputItem[];
  truncated?: OutputTruncation;
}

/** OutputItem is a piece of what the model reads. */
export interface OutputItem {
  type: OutputType;
  text?: string;
  /** `data` is base64. */
  data?: string;
  mimeType?: string;
}

/** OutputType is the type of an OutputItem. */
export type OutputType = "text" | "image" | "audio";

/** OutputTruncation says how much the model does not see. */
export interface OutputTruncation {
  omittedBytes: number;
  /** approximate */
  omittedTokens: number;
}

/** Approval says what was decided about a call, and by whom. */
export interface Approval {
  decision: ApprovalDecision;
  source?: ApprovalSource;
}

/** ApprovalDecision says whether a call was let through. */
export type ApprovalDecision =
  | "allowed"
  | "declined"
  /** The call ended before the question came up. */
  | "none";

/** ApprovalSource says who decided. */
export type ApprovalSource =
  /** The tool's approval mode is approve. */
  | "mode"
  /** The thread's approval policy. */
  | "policy"
  /** The mode and the tool's annotations. */
  | "annotations"
  /** A person answered. */
  | "person"
  /** A person allowed it before, for longer than one call. */
  | "memory"
  /** A rule of the configuration (approval_rules). */
  | "rule"
  /** The editor can't ask. */
  | "capability";

/** ServerToolCallParams is a person's call by raw names. */
export interface ServerToolCallParams {
  threadId: ThreadID;
  server: ServerName;
  tool: ToolName;
  arguments?: unknown;
  _meta?: unknown;
}

/** ServerToolCallResult is the server's result, byte for byte. */
export type ServerToolCallResult = CallToolResult;

/** CallToolResult is MCP's result of tools/call. */
export interface CallToolResult {
  content: unknown[];
  structuredContent?: unknown;
  isError?: boolean;
  _meta?: unknown;
}

/** ElicitationResolveParams answers a question that came as an event. */
export interface ElicitationResolveParams {
  requestId: RequestID;
  action: AnswerAction;
  content?: unknown;
  _meta?: AnswerMeta | null;
}

/**
 * RequestID is the id of a question: of a request that the sidecar sent to the editor ("s-1",
 * "s-2" …), or of one that came as an event ("q-1", "q-2" …).
 */
export type RequestID = string;

/** AnswerAction is what a person did with a question. */
export type AnswerAction = "accept" | "decline" | "cancel";

/** AnswerMeta is the _meta of an answer. */
export type AnswerMeta = ApprovalAnswerMeta | Record<string, unknown>;

/** ApprovalAnswerMeta is the _meta of the answer to an approval. */
export interface ApprovalAnswerMeta {
  /** `persist` is one of those that the question offered; absent allows this call only. */
  persist?: ApprovalScope | null;
}

/** ApprovalScope is for how long a person allows a tool. */
export type ApprovalScope =
  /** For the call that was asked about. It is never remembered. */
  | "once"
  /** For the life of the thread. */
  | "session"
  /**
   * For good. It is written into the configuration file that defines the server, as approval_mode
   * of the tool.
   */
  | "always";

/** ElicitationResolveResult has no members: the answer was taken. */
export interface ElicitationResolveResult {
  [member: string]: unknown;
}

/** ApprovalListParams narrows the list. Absent members leave it. */
export interface ApprovalListParams {
  /** `threadId` leaves out what other threads remember; approvals for good are listed always. */
  threadId?: ThreadID | null;
  server?: ServerName | null;
}

/**
 * ApprovalListResult lists what is remembered: approvals of sessions in the order of threads and
 * of their giving, then those for good.
 */
export interface ApprovalListResult {
  approvals: RememberedApproval[];
}

/**
 * RememberedApproval is what a person allowed for longer than one call. It ends when the server's
 * entry in the configuration or the tool's definition changes.
 */
export interface RememberedApproval {
  id: ApprovalID;
  scope: ApprovalScope;
  /** `threadId` is the thread of an approval for a session. */
  threadId?: ThreadID;
  server: ServerName;
  tool: ToolName;
  /** `definitionHash` is the definition that was allowed; see BoundTool. */
  definitionHash: string;
  /** `path` is the file that an approval for good is written in. */
  path?: string;
  /** `approvedAtMs` is when, in milliseconds since 1970. */
  approvedAtMs: number;
}

/** ApprovalID names a remembered approval. */
export type ApprovalID = string;

/**
 * ApprovalRevokeParams says what is taken back: one approval by its id, or all that fit the other
 * members. Without any member nothing is, and that is an error.
 */
export interface ApprovalRevokeParams {
  id?: ApprovalID | null;
  threadId?: ThreadID | null;
  server?: ServerName | null;
  tool?: ToolName | null;
}

/** ApprovalRevokeResult lists what was taken back. */
export interface ApprovalRevokeResult {
  revoked: RememberedApproval[];
}

/**
 * ServerStatusListParams asks for the servers of a thread; without a thread, for those of the
 * configuration.
 */
export interface ServerStatusListParams {
  threadId?: ThreadID | null;
  serverName?: ServerName | null;
  detail?: StatusDetail | null;
  cursor?: string | null;
  /** `limit` is the page size; absent means 100. */
  limit?: number | null;
}

/** StatusDetail says how much a status row carries. */
export type StatusDetail = "full" | "toolsAndAuthOnly";

/** ServerStatusListResult is a page of servers, sorted by name. */
export interface ServerStatusListResult {
  data: ServerStatus[];
  nextCursor: string | null;
}

/** ServerStatus is how one server is and what it offers. */
export interface ServerStatus {
  name: ServerName;
  runtimeStatus: ServerState;
  authStatus: AuthStatus;
  /** `tools` maps raw names to tools as the server gave them. */
  tools: Record<string, unknown>;
  resources: unknown[];
  resourceTemplates: unknown[];
  /** `toolsError` is why there is no catalogue. */
  toolsError?: string;
  /** The list went over a bound; what was read is kept. */
  toolsTruncated?: boolean;
  serverInfo?: ServerInfo;
  serverCapabilities?: unknown;
  instructions?: string;
  /** `httpOrigin` is scheme, host and port of the endpoint; absent for stdio. */
  httpOrigin?: string;
  origin?: ServerOrigin;
  /** `pid` is the server's process; absent for HTTP and where there is none. */
  pid?: number;
  /** `era` is the MCP revision agreed on. */
  era?: string;
  lastError?: ServerFailure;
}

/** AuthStatus says how a server is authorized. */
export type AuthStatus = "unknown" | "unsupported" | "notLoggedIn" | "bearerToken" | "oAuth";

/** ServerOrigin says where a server is configured. */
export interface ServerOrigin {
  /** `path` is the file; absent when the layer is not a file. */
  path?: string;
  /** `line` is 1-based; absent when unknown. */
  line?: number;
  layer: ConfigLayerName;
  /** `shadowed` lists the lower layers that configure the same name. */
  shadowed?: ConfigLayerName[];
}

/** ConfigLayerName names a layer of the configuration. */
export type ConfigLayerName = "defaults" | "user" | "flags" | "initialize" | "thread";

/** ServerFailure says why a server is not there. */
export interface ServerFailure {
  kind: Kind;
  error: string;
  /** `stderrTail` is the last lines that the process wrote to stderr. */
  stderrTail?: string[];
  exitCode?: number;
  hint?: string;
}

/** ResourceListParams asks for a page of a server's resources. */
export interface ResourceListParams {
  threadId: ThreadID;
  server: ServerName;
  cursor?: string | null;
}

/** ResourceListResult is MCP's result of resources/list, byte for byte. */
export type ResourceListResult = ListResourcesResult;

/** ListResourcesResult is MCP's result of resources/list. */
export interface ListResourcesResult {
  resources: unknown[];
  nextCursor?: string;
}

/** ResourceTemplatesListParams asks for a page of a server's resource templates. */
export interface ResourceTemplatesListParams {
  threadId: ThreadID;
  server: ServerName;
  cursor?: string | null;
}

/** ResourceTemplatesListResult is MCP's result of resources/templates/list, byte for byte. */
export type ResourceTemplatesListResult = ListResourceTemplatesResult;

/** ListResourceTemplatesResult is MCP's result of resources/templates/list. */
export interface ListResourceTemplatesResult {
  resourceTemplates: unknown[];
  nextCursor?: string;
}

/** ResourceReadParams names a resource of a server. */
export interface ResourceReadParams {
  /** `threadId` may be absent when one thread is open. */
  threadId?: ThreadID | null;
  server: ServerName;
  uri: string;
  _meta?: unknown;
}

/** ResourceReadResult is MCP's result of resources/read, byte for byte. */
export type ResourceReadResult = ReadResourceResult;

/** ReadResourceResult is MCP's result of resources/read. */
export interface ReadResourceResult {
  contents: unknown[];
}

/** PromptListParams asks for a page of a server's prompts. */
export interface PromptListParams {
  threadId: ThreadID;
  server: ServerName;
  cursor?: string | null;
}

/** PromptListResult is MCP's result of prompts/list, byte for byte. */
export type PromptListResult = ListPromptsResult;

/** ListPromptsResult is MCP's result of prompts/list. */
export interface ListPromptsResult {
  prompts: unknown[];
  nextCursor?: string;
}

/** PromptGetParams names a prompt of a server and its arguments. */
export interface PromptGetParams {
  threadId: ThreadID;
  server: ServerName;
  name: string;
  arguments?: Record<string, string> | null;
}

/** PromptGetResult is MCP's result of prompts/get, byte for byte. */
export type PromptGetResult = GetPromptResult;

/** GetPromptResult is MCP's result of prompts/get. */
export interface GetPromptResult {
  description?: string;
  messages: unknown[];
}

/** ConfigReadParams asks for the effective configuration. */
export interface ConfigReadParams {
  /**
   * `cwd` stands for a thread's working folder; absent means the first workspace folder, else the
   * sidecar's own.
   */
  cwd?: string | null;
  /** `threadId` includes the layer of that thread. */
  threadId?: ThreadID | null;
}

/** ConfigReadResult is the effective configuration. */
export interface ConfigReadResult {
  /** `config` has the keys of config.toml; secrets are masked. */
  config: unknown;
  /** `origins` maps dotted keys to where they were set. Defaults have none. */
  origins: Record<string, ConfigOrigin>;
  /** `warnings` are the problems found, as configWarning sends them. */
  warnings: ConfigWarningNotification[];
}

/** ConfigOrigin says where a key of the configuration was set. */
export interface ConfigOrigin {
  name: ConfigLayerSource;
  /** `version` is a hash that changes when the configuration does. */
  version: string;
  layer: ConfigLayerName;
  /** `line` and `column` are 1-based; absent when unknown. */
  line?: number;
  column?: number;
}

/** ConfigLayerSource is a layer in Codex's words. */
export interface ConfigLayerSource {
  type: ConfigSourceType;
  /** `file` is there for type user. */
  file?: string;
}

/** ConfigSourceType is Codex's word for a layer. */
export type ConfigSourceType = "user" | "sessionFlags";

/** ConfigWarningNotification is a problem in the configuration. Everything else goes on. */
export interface ConfigWarningNotification {
  /** `summary` is one sentence. */
  summary: string;
  details?: string;
  path?: string;
  range?: TextRange;
  /** `key` is the dotted key to blame. */
  key?: string;
  server?: ServerName;
  hint?: string;
}

/** TextRange is a stretch of a text file. */
export interface TextRange {
  start: TextPosition;
  end: TextPosition;
}

/** TextPosition is a place in a text file, both numbers 1-based. */
export interface TextPosition {
  line: number;
  column: number;
}

/**
 * InitializedParams has no members: the editor has seen the reply to initialize. The sidecar does
 * not wait for it.
 */
export interface InitializedParams {
  [member: string]: unknown;
}

/** ExitParams has no members: the process ends, with code 0 after a shutdown and 1 without. */
export interface ExitParams {
  [member: string]: unknown;
}

/**
 * CancelRequestParams names a request of the sender that became pointless. It is still answered,
 * with code -32800 or, for a tool call that had started, with a result whose status is cancelled.
 * The sidecar sends it too.
 */
export interface CancelRequestParams {
  id: AnyID;
}

/** AnyID is the id of a request: a string or a 64-bit integer. */
export type AnyID = string | number;

/**
 * ElicitationRequestParams is a question for a person: a server's own, or (with
 * _meta.codex_approval_kind "mcp_tool_call") whether a tool may run.
 */
export interface ElicitationRequestParams {
  threadId: ThreadID;
  turnId: TurnID | null;
  serverName: ServerName;
  mode: QuestionMode;
  message: string;
  /**
   * `requestedSchema` is the form: an object schema with flat properties. Always there when `mode`
   * is `form`.
   */
  requestedSchema?: unknown;
  /**
   * `url` is the page of mode url. To accept is to say that the person is done there: a call that
   * was refused for want of the visit is sent again at once. Always there when `mode` is `url`.
   */
  url?: string;
  /** `elicitationId` names the visit of the page. Always there when `mode` is `url`. */
  elicitationId?: string;
  /**
   * `_meta` says of an approval what is to be approved; of a server's question it is the server's
   * own.
   */
  _meta?: ElicitationMeta;
  /** `problem` says what was wrong with the answer before, when a question is put again. */
  problem?: string;
  /** `callId` is the tool call that the question belongs to. */
  callId?: CallID;
  /**
   * The protocol itself links the question to the call. Otherwise the call is a guess, and
   * `candidates` lists all that were running.
   */
  certain?: boolean;
  candidates?: CallID[];
}

/** QuestionMode is the kind of a question. */
export type QuestionMode = "form" | "url";

/** ElicitationMeta is the _meta of a question. */
export type ElicitationMeta = ApprovalMeta | Record<string, unknown>;

/** ApprovalMeta is the _meta of the question whether a tool may run. The names are Codex's. */
export interface ApprovalMeta {
  /** `codex_approval_kind` is "mcp_tool_call"; a server's question never has it. */
  codex_approval_kind: ApprovalKind;
  /** `tool_name` is the raw name. */
  tool_name: ToolName;
  tool_title?: string;
  tool_description?: string;
  /** `tool_params` are the arguments, whole. */
  tool_params: unknown;
  /** `tool_params_display` are those that matter most, at most 50, fit to be shown. */
  tool_params_display?: DisplayedParam[];
  call_id: CallID;
  annotations: Hints;
  /** `reason` says why a person is asked. */
  reason: string;
  /** The tool is not the one that was agreed to. */
  definition_changed?: boolean;
  /** `definition_changes` says in sentences what is different. */
  definition_changes?: string[];
  /** `persist` lists for how long the tool can be allowed beyond this call. */
  persist?: ApprovalScope[];
}

/** ApprovalKind marks an approval. */
export type ApprovalKind =
  /** `mcp_tool_call` is the only kind there is. */
  | "mcp_tool_call";

/** DisplayedParam is an argument as a person is shown it. */
export interface DisplayedParam {
  name: string;
  /** `value` is at most 1 KiB; a longer one is a string that was cut. */
  value: unknown;
  display_name: string;
}

/** ElicitationRequestResult is a person's answer. An unknown action is a cancel. */
export interface ElicitationRequestResult {
  action: AnswerAction;
  content?: unknown;
  _meta?: AnswerMeta | null;
}

/**
 * ElicitationRequestedNotification is a question for a person, to an editor that wants them as
 * events.
 */
export interface ElicitationRequestedNotification {
  /** `requestId` is "q-1", "q-2" …; mcpServer/elicitation/resolve answers it. */
  requestId: RequestID;
  threadId: ThreadID;
  turnId: TurnID | null;
  serverName: ServerName;
  mode: QuestionMode;
  message: string;
  /** `requestedSchema` is the form: an object schema with flat properties. */
  requestedSchema?: unknown;
  /**
   * `url` is the page of mode url. To accept is to say that the person is done there: a call that
   * was refused for want of the visit is sent again at once.
   */
  url?: string;
  /** `elicitationId` names the visit of the page. */
  elicitationId?: string;
  /**
   * `_meta` says of an approval what is to be approved; of a server's question it is the server's
   * own.
   */
  _meta?: ElicitationMeta;
  /** `problem` says what was wrong with the answer before, when a question is put again. */
  problem?: string;
  /** `callId` is the tool call that the question belongs to. */
  callId?: CallID;
  /**
   * The protocol itself links the question to the call. Otherwise the call is a guess, and
   * `candidates` lists all that were running.
   */
  certain?: boolean;
  candidates?: CallID[];
}

/** ThreadStartedNotification says that a thread was opened. */
export interface ThreadStartedNotification {
  thread: Thread;
}

/** ThreadClosedNotification says that a thread was closed. */
export interface ThreadClosedNotification {
  threadId: ThreadID;
}

/** ThreadStatusChangedNotification says what a thread is doing now. */
export interface ThreadStatusChangedNotification {
  threadId: ThreadID;
  status: ThreadStatus;
}

/** BindingChangedNotification hints that a new freeze would differ. */
export interface BindingChangedNotification {
  threadId: ThreadID;
  /** `reason` says what happened. */
  reason: BindingChangeReason;
  /** `servers` are those concerned. */
  servers: ServerName[];
}

/** BindingChangeReason says why a new freeze would differ. */
export type BindingChangeReason =
  | "serverReady"
  | "serverFailed"
  | "toolListChanged"
  | "settingsChanged";

/** ItemStartedNotification says that a call began. Its approval comes after. */
export interface ItemStartedNotification {
  threadId: ThreadID;
  turnId: TurnID;
  item: Item;
  startedAtMs: number;
}

/** Item is a tool call as editors show it, in Codex's shape. */
export interface Item {
  type: ItemType;
  id: CallID;
  server: ServerName;
  tool: ToolName;
  status: ItemStatus;
  arguments: unknown;
  /** `result` is there when the server gave one. */
  result?: unknown;
  error?: ItemError;
  durationMs?: number;
  readOnlyHint?: boolean;
  /** `mcpAppResourceUri` is the tool's MCP Apps page. */
  mcpAppResourceUri?: string;
}

/** ItemType is the type of an Item. */
export type ItemType =
  /** `mcpToolCall` is a call of a tool of an MCP server. */
  | "mcpToolCall";

/** ItemStatus is the state of an Item. */
export type ItemStatus = "inProgress" | "completed" | "failed";

/** ItemError is why an item failed. */
export interface ItemError {
  message: string;
}

/** ItemProgressNotification is a server's progress report on a call. */
export interface ItemProgressNotification {
  threadId: ThreadID;
  turnId: TurnID;
  itemId: CallID;
  message: string;
  progress: number;
  total?: number;
}

/**
 * ItemCompletedNotification says that a call ended. It always follows item/started and comes
 * before the reply. A result above 1 MiB is left out here (resultOmitted); the reply has it.
 */
export interface ItemCompletedNotification {
  threadId: ThreadID;
  turnId: TurnID;
  item: Item;
  resultOmitted?: boolean;
  completedAtMs: number;
}

/** StartupStatusUpdatedNotification is a step of a server's start. */
export interface StartupStatusUpdatedNotification {
  threadId: ThreadID;
  name: ServerName;
  status: StartupState;
  error?: string;
  kind?: Kind;
  hint?: string;
  /** `stderrTail` is the last lines that the process wrote to stderr. */
  stderrTail?: string[];
  exitCode?: number;
}

/** StartupState is a step of a server's start. */
export type StartupState = "starting" | "ready" | "failed" | "cancelled";

/**
 * StartupCompletedNotification says that every server of a thread has ended its start, one way or
 * another.
 */
export interface StartupCompletedNotification {
  threadId: ThreadID;
  ready: ServerName[];
  failed: StartupFailure[];
  cancelled: ServerName[];
}

/**
 * RequestResolvedNotification says that a question of the sidecar is closed: answered, or
 * pointless now.
 */
export interface RequestResolvedNotification {
  threadId: ThreadID;
  requestId: RequestID;
  reason: ResolvedReason;
}

/** ResolvedReason says why a question is closed. */
export type ResolvedReason =
  | "answered"
  | "callCancelled"
  | "callEnded"
  | "serverGone"
  | "threadClosed"
  /** The editor's input has ended, so that no answer can come. */
  | "editorGone";

/** WarningNotification is something a person should know; nothing stopped. */
export interface WarningNotification {
  message: string;
  threadId?: ThreadID;
  server?: ServerName;
  kind?: Kind;
  /** `callId` and `requestId` are there when it is about the answer to a question. */
  callId?: CallID;
  requestId?: RequestID;
}

/** ErrorData is the data member of every error. */
export interface ErrorData {
  kind: Kind;
  retryable: boolean;
  server?: ServerName;
  tool?: ToolName;
  /** `reason` is there for kind declined. */
  reason?: Reason;
  /** `pointer` is a JSON pointer into params, for kind invalidParams. */
  pointer?: string;
  /** `hint` says what can be done. */
  hint?: string;
  retryAfterMs?: number;
  /** `crashId` is found in the log, for kind internal. */
  crashId?: string;
  upstream?: UpstreamError;
  /** `failed` lists the servers, for kind requiredServerFailed. */
  failed?: StartupFailure[];
}

/**
 * UpstreamError is a server's JSON-RPC error, without the secrets of its configuration that it may
 * repeat. Its code is the server's, never the sidecar's.
 */
export interface UpstreamError {
  code: number;
  message: string;
  data?: unknown;
}
