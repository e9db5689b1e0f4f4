import type { Dispatcher } from "undici";
import { Failure, failureFrom, isBug, type Stage } from "./failure.ts";
import { buildSnippet, maxSnippetBytes, type OutboundResponse, parseRetryAfter } from "./response.ts";

/** One POST or GET request. */
export interface OutboundRequest {
  url: string;
  headers: Record<string, string>;
  /** JSON text of a POST, sent as its UTF-8 bytes; null for a GET. */
  body: string | null;
  /** Networks that the receiver may be in besides public addresses. Plain HTTP is sent to these only. */
  allowedNetworks: readonly string[];
}

/** What an exchange needs of the connection that the pool has chosen for it. */
export interface ExchangeConnection {
  hasUnsentBytes: boolean;
  /** Whether the socket was opened for an earlier exchange, and nothing has been received in this one. */
  isReusedAndSilent: boolean;
  /** Starts counting the bytes of a response. */
  startReading(maxBytes: number): void;
  allowMoreBytes(bytes: number): void;
  /** Calls back once the connection can take the next request, or is closed. */
  whenReleased(callback: () => void): void;
  closeSocket(): void;
}

/** Whatever their headers say: some frameworks send a 204 with a Content-Length, and a body. */
const bodilessStatusCodes = new Set([204, 304]);
const maxInformationalResponses = 16;
/** The size of one read from the socket: a limit that is only exceeded within the last read may have been respected. */
const readBytes = 65_536;
const maxHeadBytes = 16_384 + readBytes;
/** What an honest response may need besides its body, such as the sizes of its chunks. */
const maxFramingBytes = 65_536 + readBytes;

type Head = Pick<OutboundResponse, "statusCode" | "retryAfterMs">;

/**
 * One request over one connection, and its response, of which at most `maxBodyBytes` are read. A longer response counts
 * as it is, since its status has been received; the connection is closed.
 */
export class Exchange implements Dispatcher.DispatchHandler {
  /** How far the request has come. */
  stage: Stage = "address";
  isSettled = false;
  /** Whether the request was lost on a reused connection before a byte of its response, and may be sent once more. */
  isRetryable = false;
  readonly request: OutboundRequest;
  readonly needsNewConnection: boolean;
  readonly #maxBodyBytes: number;
  readonly #result = Promise.withResolvers<OutboundResponse>();
  readonly #chunks: Buffer[] = [];
  #bodyBytes = 0;
  #informationalResponses = 0;
  #head: Head | undefined;
  #connection: ExchangeConnection | undefined;
  #controller: Dispatcher.DispatchController | undefined;

  constructor(request: OutboundRequest, options: { maxBodyBytes: number; needsNewConnection: boolean }) {
    this.request = request;
    this.#maxBodyBytes = options.maxBodyBytes;
    this.needsNewConnection = options.needsNewConnection;
  }

  /** Rejects with a `Failure`, or with an error that is a bug. */
  get response(): Promise<OutboundResponse> {
    return this.#result.promise;
  }

  /** Null until the headers of the response have been received. */
  get statusCode(): number | null {
    return this.#head?.statusCode ?? null;
  }

  /** The pool has chosen the connection, which may not be open yet. */
  assign(connection: ExchangeConnection): void {
    this.#connection = connection;
  }

  /** Ends the exchange at its deadline, whatever it is doing. */
  timeOut(): void {
    if (this.stage === "headers" && this.#connection?.hasUnsentBytes === true) this.stage = "send";
    this.#abort(new Failure("timed-out"));
  }

  /** The connection has received more bytes than it was allowed to. */
  stopReading(): void {
    if (this.#head === undefined) return this.#abort(new Failure("headers-too-large"));
    this.#respond(this.#head, { isComplete: false });
    this.#abort(new Failure("connection-closed"));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.isSettled) return controller.abort(new Failure("timed-out"));
    this.stage = "headers";
    this.#connection?.startReading(maxHeadBytes);
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    statusCode: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (statusCode >= 200) {
      this.#head = { statusCode, retryAfterMs: parseRetryAfter(statusCode, headers["retry-after"]) };
      this.stage = "body";
      this.#connection?.allowMoreBytes(this.#maxBodyBytes + maxFramingBytes);
      return;
    }
    this.#informationalResponses += 1;
    if (this.#informationalResponses > maxInformationalResponses) {
      this.#abort(new Failure("too-many-informational-answers"));
    }
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#returnsText || this.#bodyBytes <= maxSnippetBytes) this.#chunks.push(chunk);
    this.#bodyBytes += chunk.length;
    if (this.#bodyBytes > this.#maxBodyBytes) this.stopReading();
  }

  onResponseEnd(): void {
    const head = this.#head;
    // Settling before the connection is free would have the pool open another one for the caller's next request.
    if (head !== undefined) this.#connection?.whenReleased(() => this.#respond(head, { isComplete: true }));
  }

  onResponseError(_controller: Dispatcher.DispatchController | undefined, error: NodeJS.ErrnoException): void {
    if (this.isSettled) return;
    if (this.#head !== undefined && bodilessStatusCodes.has(this.#head.statusCode)) {
      return this.#respond(this.#head, { isComplete: true });
    }
    if (isBug(error)) return this.#reject(error);
    const failure = failureFrom(error, "connection-closed");
    if (error.syscall === "write") this.stage = "send";
    if (failure.reason === "request-invalid") this.stage = "headers";
    const isLost = failure.reason === "connection-closed" || failure.reason === "connection-reset";
    this.isRetryable = isLost && this.#connection?.isReusedAndSilent === true;
    this.#reject(failure);
  }

  /** Of a POST only the snippet is returned, so its body needn't be kept. */
  get #returnsText(): boolean {
    return this.request.body === null;
  }

  #respond(head: Head, { isComplete }: { isComplete: boolean }): void {
    this.isSettled = true;
    const [first] = this.#chunks;
    const body = this.#chunks.length === 1 && first !== undefined ? first : Buffer.concat(this.#chunks);
    const text = this.#returnsText && isComplete ? body.toString() : null;
    this.#result.resolve({ outcome: "responded", ...head, snippet: buildSnippet(body), text });
  }

  #reject(error: Error): void {
    this.isSettled = true;
    this.#result.reject(error);
  }

  #abort(failure: Failure): void {
    if (!this.isSettled) this.#reject(failure);
    // Before its request has been written, an exchange can only be ended by closing the socket.
    if (this.#controller === undefined) this.#connection?.closeSocket();
    else this.#controller.abort(failure);
  }
}
