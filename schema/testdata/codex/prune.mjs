// Reads the JSON Schemas that Codex generates and keeps what the sidecar shares with it.
//
//   node prune.mjs GENERATED_DIR OUT_DIR
//
// Each kept shape becomes OUT_DIR/<Shape>.json; OUT_DIR/index.json maps each method to its shapes. The method table of the
// generated schemas is checked against the one below, so that a method that Codex renames, or gives another shape, stops the run.
import { existsSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

// Which of Codex's message unions lists a method; the union says who sends it.
const UNIONS = ["ClientRequest", "ServerRequest", "ServerNotification"];

// The shared methods, by union: method -> [params, result]. A null shape is none.
const SHARED = {
  ClientRequest: {
    "initialize": ["InitializeParams", "InitializeResponse"],
    "thread/start": ["ThreadStartParams", "ThreadStartResponse"],
    "thread/list": ["ThreadListParams", "ThreadListResponse"],
    "thread/read": ["ThreadReadParams", "ThreadReadResponse"],
    "config/read": ["ConfigReadParams", "ConfigReadResponse"],
    "config/mcpServer/reload": [null, "McpServerRefreshResponse"],
    "mcpServer/tool/call": ["McpServerToolCallParams", "McpServerToolCallResponse"],
    "mcpServer/resource/read": ["McpResourceReadParams", "McpResourceReadResponse"],
    "mcpServer/oauth/login": ["McpServerOauthLoginParams", "McpServerOauthLoginResponse"],
    "mcpServerStatus/list": ["ListMcpServerStatusParams", "ListMcpServerStatusResponse"],
  },
  ServerRequest: {
    "mcpServer/elicitation/request": ["McpServerElicitationRequestParams", "McpServerElicitationRequestResponse"],
  },
  ServerNotification: {
    "thread/started": ["ThreadStartedNotification"],
    "thread/closed": ["ThreadClosedNotification"],
    "thread/status/changed": ["ThreadStatusChangedNotification"],
    "item/started": ["ItemStartedNotification"],
    "item/completed": ["ItemCompletedNotification"],
    "item/mcpToolCall/progress": ["McpToolCallProgressNotification"],
    "mcpServer/startupStatus/updated": ["McpServerStatusUpdatedNotification"],
    "mcpServer/oauthLogin/completed": ["McpServerOauthLoginCompletedNotification"],
    "serverRequest/resolved": ["ServerRequestResolvedNotification"],
    "configWarning": ["ConfigWarningNotification"],
    "warning": ["WarningNotification"],
    "deprecationNotice": ["DeprecationNoticeNotification"],
  },
};

// Definitions that are narrowed to the part the sidecar speaks. Each one throws when what it narrows is no longer there.
const NARROW = {
  // Only one kind of item is ours.
  ThreadItem(schema) {
    const ours = schema.oneOf.filter((variant) => variant.properties.type.enum.includes("mcpToolCall"));
    if (ours.length !== 1) throw new Error("ThreadItem: no single mcpToolCall variant");
    return ours[0];
  },
  // The sidecar runs no turns, so that the list is always empty.
  Thread(schema) {
    if (schema.properties.turns.type !== "array") throw new Error("Thread: turns is no array");
    return { ...schema, properties: { ...schema.properties, turns: { type: "array", maxItems: 0 } } };
  },
  // Of an open object with the settings of a whole agent, those that the sidecar has too.
  Config(schema) {
    if (schema.additionalProperties !== true) throw new Error("Config: no longer open");
    const properties = {};
    for (const key of ["approval_policy", "model", "sandbox_mode"]) {
      if (!schema.properties[key]) throw new Error(`Config: no ${key}`);
      properties[key] = schema.properties[key];
    }
    return { ...schema, properties };
  },
};

// Keywords whose values are schemas: one, a list, or a map of names.
const ONE = new Set(["additionalItems", "additionalProperties", "contains", "else", "if", "not", "propertyNames", "then"]);
const LIST = new Set(["allOf", "anyOf", "oneOf"]);
const MAP = new Set(["patternProperties", "properties"]);

// Returns the schema without its prose, and calls use with the name of each definition it refers to. It walks by keyword, so
// that a property which is itself called "description" or "title" stays.
function bare(schema, use) {
  if (typeof schema === "boolean") return schema;
  const out = {};
  for (const key of Object.keys(schema).sort()) {
    const value = schema[key];
    if (key === "description" || key === "title" || key === "definitions") continue;
    if (key === "$ref") use(value.replace("#/definitions/", ""));
    if (key === "items" ? !Array.isArray(value) : ONE.has(key)) out[key] = bare(value, use);
    else if (key === "items" || LIST.has(key)) out[key] = value.map((each) => bare(each, use));
    else if (MAP.has(key)) out[key] = Object.fromEntries(Object.keys(value).sort().map((name) => [name, bare(value[name], use)]));
    else out[key] = value;
  }
  return out;
}

// Returns a whole file: the bare schema and the definitions that can be reached from it.
function prune(file) {
  const definitions = {};
  const waiting = new Set();
  const use = (name) => waiting.add(name);
  const root = bare(file, use);
  for (const name of waiting) {
    const full = file.definitions?.[name];
    if (full === undefined) throw new Error(`${file.title}: no definition ${name}`);
    definitions[name] = bare(NARROW[name] ? NARROW[name](full) : full, use);
  }
  const { $schema, ...rest } = root;
  const out = { $schema, title: file.title };
  if (waiting.size > 0) out.definitions = Object.fromEntries(Object.keys(definitions).sort().map((name) => [name, definitions[name]]));
  return { ...out, ...rest };
}

// The method table that the generated union states: method -> name of the params shape, or null.
function stated(union) {
  const table = {};
  for (const { properties } of union.oneOf) {
    const shape = properties.params?.$ref?.replace("#/definitions/", "") ?? null;
    for (const method of properties.method.enum) table[method] = shape;
  }
  return table;
}

// JSON in which what is short stays on one line: a type or a list of words does not take six.
function pretty(value, indent = "") {
  const line = flat(value);
  if (typeof value !== "object" || value === null || indent.length + line.length <= 100) return line;
  const deeper = indent + "  ";
  const lines = entries(value).map(([key, each]) => deeper + key + pretty(each, deeper));
  return (Array.isArray(value) ? "[" : "{") + "\n" + lines.join(",\n") + "\n" + indent + (Array.isArray(value) ? "]" : "}");
}

function flat(value) {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const line = entries(value).map(([key, each]) => key + flat(each)).join(", ");
  if (Array.isArray(value)) return `[${line}]`;
  return line ? `{ ${line} }` : "{}";
}

// What stands in front of each part of a list or an object, and the part.
function entries(value) {
  if (Array.isArray(value)) return value.map((each) => ["", each]);
  return Object.entries(value).map(([key, each]) => [JSON.stringify(key) + ": ", each]);
}

const [generated, out] = process.argv.slice(2);
if (!generated || !out) {
  console.error("usage: node prune.mjs GENERATED_DIR OUT_DIR");
  process.exit(2);
}
const read = (name) => {
  for (const dir of ["v2", "v1", ""]) {
    const path = join(generated, dir, `${name}.json`);
    if (existsSync(path)) return JSON.parse(readFileSync(path, "utf8"));
  }
  throw new Error(`${name}.json: not generated`);
};
const write = (name, value) => writeFileSync(join(out, `${name}.json`), pretty(value) + "\n");

for (const name of readdirSync(out)) if (name.endsWith(".json")) rmSync(join(out, name));
const index = {};
for (const union of UNIONS) {
  const table = stated(read(union));
  for (const [method, shapes] of Object.entries(SHARED[union])) {
    const [params, result] = shapes;
    if (!(method in table)) throw new Error(`${method}: not in ${union}`);
    if (table[method] !== params) throw new Error(`${method}: params are ${table[method]}, not ${params}`);
    for (const shape of shapes) if (shape) write(shape, prune(read(shape)));
    const entry = { from: union === "ClientRequest" ? "editor" : "sidecar", params: params && `${params}.json` };
    if (union !== "ServerNotification") entry.result = `${result}.json`;
    index[method] = entry;
  }
}
write("index", index);
