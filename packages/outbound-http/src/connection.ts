import { connect as connectTcp, isIP, type LookupFunction, type Socket } from "node:net";
import { connect as connectTls, type SecureContext, type TLSSocket } from "node:tls";
import { callbackify } from "node:util";
import { type buildConnector, Client, type Dispatcher } from "undici";
import type { Exchange, ExchangeConnection } from "./exchange.ts";
import { Failure, type FailureReason, failureFrom, type Stage } from "./failure.ts";
import type { Resolve, ResolvedAddress } from "./resolver.ts";
import { resolveAllowedAddresses, type Target } from "./target.ts";

export interface ConnectionOptions {
  resolve: Resolve;
  secureContext: SecureContext;
  /** How long an idle connection stays open. */
  idleMs: number;
}

export interface ConnectionListener {
  onOpen(): void;
  onIdle(connection: Connection): void;
  onBusy(connection: Connection): void;
  onClose(connection: Connection): void;
}

export interface ExchangeDispatchOptions extends Dispatcher.DispatchOptions {
  exchange: Exchange;
}

/** Returns the checked addresses without a query: a second one could return other addresses. */
const createLookup =
  (addresses: readonly ResolvedAddress[]): LookupFunction =>
  (_hostname, _options, callback) =>
    callback(null, [...addresses]);

function createSocket(target: Target, addresses: readonly ResolvedAddress[], secureContext: SecureContext) {
  const options = {
    host: target.hostname,
    port: target.port,
    lookup: createLookup(addresses),
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: 1_000,
    noDelay: true,
  };
  if (!target.secure) return connectTcp(options);
  return connectTls({
    ...options,
    secureContext,
    ...(isIP(target.hostname) === 0 ? { servername: target.hostname } : {}),
    ALPNProtocols: ["http/1.1"],
    // Explicit, because NODE_TLS_REJECT_UNAUTHORIZED could disable it for the whole process.
    rejectUnauthorized: true,
  });
}

/** Without a listener, a later error of a socket would be an uncaught exception. */
const ignoreError = (): void => {};

/** Resolves when requests can be written: with TLS, after the certificate has been verified. */
function waitUntilConnected(socket: Socket | TLSSocket, secure: boolean, progress: { stage: Stage }): Promise<Socket> {
  return new Promise((resolve, reject) => {
    progress.stage = "connect";
    const fallbackReason = (): FailureReason => {
      if (progress.stage === "connect") return "unreachable";
      return "authorizationError" in socket && socket.authorizationError ? "certificate-not-valid" : "tls-failed";
    };
    const onError = (error: Error): void => reject(failureFrom(error, fallbackReason()));
    const onClose = (): void => reject(new Failure("connection-closed"));
    socket.once("error", onError).once("close", onClose);
    socket.once("connect", () => {
      progress.stage = secure ? "tls" : "send";
    });
    socket.once(secure ? "secureConnect" : "connect", () => {
      // They would keep the first request in memory for as long as the socket lives.
      socket.off("error", onError).off("close", onClose);
      socket.on("error", ignoreError);
      resolve(socket);
    });
  });
}

/**
 * A `Client` of an undici pool: one socket at a time, with one request at a time. Undici opens and replaces the socket
 * when it needs one, and every socket goes to an address that was resolved and checked for it.
 */
export class Connection extends Client implements ExchangeConnection {
  readonly #target: Target;
  readonly #allowedNetworks: readonly string[];
  readonly #options: ConnectionOptions;
  readonly #listener: ConnectionListener;
  #exchange: Exchange | undefined;
  #hasOpenedSocket = false;
  #socket: Socket | undefined;
  #bytesReadBefore = 0;
  #maxBytesRead = 0;
  #onReleased: (() => void) | undefined;

  constructor(
    target: Target,
    allowedNetworks: readonly string[],
    options: ConnectionOptions,
    listener: ConnectionListener,
  ) {
    super(target.origin, {
      connect: (_options, callback) => this.#connect(callback),
      pipelining: 1,
      keepAliveTimeout: options.idleMs,
      keepAliveMaxTimeout: options.idleMs,
      keepAliveTimeoutThreshold: 1_000,
      // Never reached: `#maxBytesRead` is lower. At this limit undici creates an error for each further header, thousands
      // from one packet, which costs far more CPU than the receiver spends.
      maxHeaderSize: 1_048_576,
      // Undici restarts these with every byte; the deadline of the request covers both.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    this.#target = target;
    this.#allowedNetworks = allowedNetworks;
    this.#options = options;
    this.#listener = listener;
    this.on("drain", () => this.#release());
  }

  /** Called by the pool. */
  override dispatch(options: ExchangeDispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    const { exchange } = options;
    this.#exchange = exchange;
    this.#hasOpenedSocket = false;
    this.#bytesReadBefore = this.#socket?.bytesRead ?? 0;
    this.#listener.onBusy(this);
    exchange.assign(this);
    if (exchange.needsNewConnection) this.closeSocket();
    else if (this.#isOpen) exchange.stage = "headers";
    const isFree = super.dispatch(options, handler);
    // Undici rejects an invalid request at once, emits no "drain" for it, and the pool would wait for one for ever.
    if (!exchange.isSettled) return isFree;
    this.#release();
    return true;
  }

  get hasUnsentBytes(): boolean {
    return this.#socket !== undefined && this.#socket.writableLength > 0;
  }

  get isReusedAndSilent(): boolean {
    return !this.#hasOpenedSocket && this.#socket?.bytesRead === this.#bytesReadBefore;
  }

  get #isOpen(): boolean {
    return this.#socket?.destroyed === false;
  }

  startReading(maxBytes: number): void {
    this.#maxBytesRead = (this.#socket?.bytesRead ?? 0) + maxBytes;
  }

  allowMoreBytes(bytes: number): void {
    this.#maxBytesRead += bytes;
  }

  whenReleased(callback: () => void): void {
    this.#onReleased = callback;
    // Unsent bytes belong to a request whose response came before it was read: the next request can't follow them.
    if (this.hasUnsentBytes) this.closeSocket();
  }

  closeSocket(): void {
    this.#socket?.destroy();
  }

  #connect(callback: buildConnector.Callback): void {
    callbackify(() => this.#open())((error, socket) => (error ? callback(error, null) : callback(null, socket)));
  }

  async #open(): Promise<Socket> {
    const exchange = this.#exchange;
    if (exchange === undefined || exchange.isSettled) throw new Failure("timed-out");
    if (this.#hasOpenedSocket) {
      // Undici would replace a socket that is lost before its request is written, again and again until the deadline.
      exchange.stage = "headers";
      throw failureFrom(this.#socket?.errored ?? new Failure("connection-closed"), "connection-closed");
    }
    this.#hasOpenedSocket = true;
    const { resolve, secureContext } = this.#options;
    const addresses = await resolveAllowedAddresses(this.#target, this.#allowedNetworks, resolve, exchange);
    if (exchange.isSettled) throw new Failure("timed-out");
    const socket = createSocket(this.#target, addresses, secureContext);
    this.#socket = socket;
    this.#maxBytesRead = Number.POSITIVE_INFINITY;
    this.#listener.onOpen();
    socket.once("close", () => {
      this.#listener.onClose(this);
      this.#callReleased();
    });
    // Counted below the parser, which reports headers and body only: endless chunk extensions would go unnoticed.
    socket.on("readable", () => {
      if (socket.bytesRead > this.#maxBytesRead) this.#onTooManyBytes();
    });
    return waitUntilConnected(socket, this.#target.secure, exchange);
  }

  #onTooManyBytes(): void {
    if (this.#exchange === undefined) this.closeSocket();
    else this.#exchange.stopReading();
  }

  #release(): void {
    this.#exchange = undefined;
    this.#callReleased();
    if (this.#isOpen) this.#listener.onIdle(this);
  }

  #callReleased(): void {
    const callback = this.#onReleased;
    this.#onReleased = undefined;
    callback?.();
  }
}
