import assert from "node:assert/strict";
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { Agent, get, type IncomingMessage } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { join } from "node:path";

/** The fixture in a process of its own. */
export class TestService {
  readonly child: ChildProcess;
  readonly ended: Promise<unknown[]>;
  /** How many requests have reached their handler. */
  begun = 0;
  address: AddressInfo | undefined;
  output = "";

  constructor(after: (stop: () => unknown) => void, port = 0) {
    const path = join(import.meta.dirname, "serve.test-fixture.ts");
    this.child = fork(path, [String(port)], { execArgv: [], stdio: ["ignore", "pipe", "inherit", "ipc"] });
    this.ended = once(this.child, "exit");
    this.child.stdout?.on("data", (text: Buffer) => {
      this.output += text.toString();
    });
    this.child.on("message", (message: "begun" | AddressInfo) => {
      if (message === "begun") this.begun += 1;
      else this.address = message;
    });
    after(() => this.child.kill("SIGKILL"));
  }

  get port(): number {
    return this.address?.port ?? 0;
  }

  async stop(signal: NodeJS.Signals = "SIGTERM"): Promise<{ code: unknown; ms: number }> {
    const began = performance.now();
    this.child.kill(signal);
    const [code] = await this.ended;
    return { code, ms: performance.now() - began };
  }

  /** Keeps its connection, as any client with a pool does. */
  async ask(path: string): Promise<{ status: number | undefined; connection: string | undefined; bytes: number }> {
    const asked = get({ host: "127.0.0.1", port: this.port, path, agent: new Agent({ keepAlive: true }) });
    const [answer]: IncomingMessage[] = await once(asked, "response");
    assert.ok(answer);
    let bytes = 0;
    for await (const chunk of answer) bytes += String(chunk).length;
    return { status: answer.statusCode, connection: answer.headers.connection, bytes };
  }

  async isRefusing(): Promise<boolean> {
    const socket = connect(this.port, "127.0.0.1");
    try {
      await once(socket, "connect");
      return false;
    } catch (error) {
      return error instanceof Error && "code" in error && error.code === "ECONNREFUSED";
    } finally {
      socket.destroy();
    }
  }
}
