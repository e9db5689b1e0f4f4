import assert from "node:assert/strict";
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { Agent, get, type IncomingMessage } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { join } from "node:path";

/** Runs the fixture as a child process. */
export class TestService {
  readonly child: ChildProcess;
  readonly ended: Promise<unknown[]>;
  /** The number of requests that have reached their handler. */
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

  /** Keeps its connection open, as a client with a connection pool does. */
  async request(path: string): Promise<{ status: number | undefined; connection: string | undefined; bytes: number }> {
    const request = get({ host: "127.0.0.1", port: this.port, path, agent: new Agent({ keepAlive: true }) });
    const [response]: IncomingMessage[] = await once(request, "response");
    assert.ok(response);
    let bytes = 0;
    for await (const chunk of response) bytes += String(chunk).length;
    return { status: response.statusCode, connection: response.headers.connection, bytes };
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
