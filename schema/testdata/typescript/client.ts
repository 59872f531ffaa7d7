// A typed client: what an extension needs beside the types to speak the
// protocol. It is compiled with "tsc --strict" as the test of sidecar.d.ts.
import type {
  AnyID,
  EditorNotifications,
  EditorRequests,
  ErrorKinds,
  ErrorObject,
  SidecarMessage,
  SidecarNotifications,
  SidecarRequests,
} from "../../published/sidecar";

type Answers = {
  [M in keyof SidecarRequests]: (params: SidecarRequests[M]["params"]) => Promise<SidecarRequests[M]["result"]>;
};
type Listeners = { [M in keyof SidecarNotifications]?: (params: SidecarNotifications[M]) => void };

export class Client {
  private next = 1;
  private waiting = new Map<AnyID, { done: (result: never) => void; failed: (error: ErrorObject) => void }>();

  constructor(private send: (line: string) => void, private answers: Answers, private listeners: Listeners) {}

  request<M extends keyof EditorRequests>(method: M, params: EditorRequests[M]["params"]): Promise<EditorRequests[M]["result"]> {
    const id = this.next++;
    this.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }) + "\n");
    return new Promise((done, failed) => this.waiting.set(id, { done, failed }));
  }

  notify<M extends keyof EditorNotifications>(method: M, params: EditorNotifications[M]): void {
    this.send(JSON.stringify({ jsonrpc: "2.0", method, params }) + "\n");
  }

  async line(text: string): Promise<void> {
    const message: SidecarMessage = JSON.parse(text);
    if ("method" in message && "id" in message) {
      const result = await this.answers[message.method](message.params);
      this.send(JSON.stringify({ jsonrpc: "2.0", id: message.id, result }) + "\n");
    } else if ("method" in message) {
      (this.listeners[message.method] as ((params: unknown) => void) | undefined)?.(message.params);
    } else if (message.id !== null) {
      const w = this.waiting.get(message.id);
      this.waiting.delete(message.id);
      if ("error" in message) w?.failed(message.error);
      else w?.done(message.result as never);
    }
  }
}

// What the types must allow.
export async function use(client: Client): Promise<void> {
  const { capabilities } = await client.request("initialize", { clientInfo: { name: "example" } });
  capabilities.limits["x"]?.toFixed();
  const { thread, startup } = await client.request("thread/start", { cwd: "/project", model: null, approvalPolicy: "never" });
  startup.failed.map((f) => f.kind satisfies keyof ErrorKinds);
  const { binding } = await client.request("thread/binding/freeze", { threadId: thread.id });
  const call = await client.request("thread/tool/call", {
    threadId: thread.id,
    bindingId: binding.id,
    name: binding.tools[0]?.flatName ?? "",
    arguments: { path: "README.md" },
  });
  if (call.status === "declined" && call.reason === "policyNever") return;
  const done: null = await client.request("shutdown", {});
  client.notify("exit", {});
  void done;
}

// What they must refuse.
export function misuse(client: Client): void {
  // @ts-expect-error no such method
  void client.request("thread/begin", {});
  // @ts-expect-error threadId is missing
  void client.request("thread/read", {});
  // @ts-expect-error no such word
  void client.request("thread/start", { sandbox: "none" });
  // @ts-expect-error a notification of the sidecar
  client.notify("warning", { message: "" });
}
