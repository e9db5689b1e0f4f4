/** A response of the marketplace: its data, that nothing changed since the `etag`, that there is no such thing, or that the reader asks too often. */
export type FetchedJson =
  | { outcome: "data"; data: unknown; bytes: number; etag: string | undefined; headers: Headers }
  | { outcome: "unchanged" }
  | { outcome: "absent" }
  | { outcome: "refused"; status: number }
  | { outcome: "rate-limited"; retryAfter: string | undefined };

export interface JsonRequest {
  url: string;
  method: "GET" | "POST";
  body?: string | undefined;
  etag?: string | undefined;
  /** Of the reader on whose behalf the request is sent. */
  clientAddress: string;
  /** Whether integers stay exact that are larger than a JavaScript number: they become bigints. Looking at each value takes thirty times as long. */
  keepsLargeIntegers: boolean;
  timeoutMs: number;
  maxBytes: number;
}

/** Fetches JSON within limits of time and size. Throws if the server can't be reached, fails, or exceeds a limit. */
export async function fetchJson(request: JsonRequest): Promise<FetchedJson> {
  const { url, method, body, etag, clientAddress, keepsLargeIntegers, timeoutMs, maxBytes } = request;
  const response = await fetch(url, {
    method,
    redirect: "error",
    signal: AbortSignal.timeout(timeoutMs),
    headers: {
      accept: "application/json",
      "x-forwarded-for": clientAddress,
      ...(etag === undefined ? {} : { "if-none-match": etag }),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    },
    ...(body === undefined ? {} : { body }),
  });
  const { status, headers } = response;
  if (status !== 200) await response.body?.cancel();
  if (status === 304) return { outcome: "unchanged" };
  if (status === 404 || status === 410) return { outcome: "absent" };
  if (status === 400 || status === 422) return { outcome: "refused", status };
  if (status === 429) return { outcome: "rate-limited", retryAfter: headers.get("retry-after") ?? undefined };
  if (status !== 200) throw new Error(`the marketplace responded with ${status}`);
  const text = await readText(response, maxBytes);
  return {
    outcome: "data",
    data: keepsLargeIntegers && /\d{16}/.test(text) ? JSON.parse(text, keepLargeIntegers) : JSON.parse(text),
    bytes: text.length,
    etag: headers.get("etag") ?? undefined,
    headers,
  };
}

async function readText(response: Response, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new Error(`the marketplace's response has more than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function keepLargeIntegers(this: unknown, _key: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== "number" || Number.isSafeInteger(value) || context?.source === undefined) return value;
  return /^-?\d+$/.test(context.source) ? BigInt(context.source) : value;
}
