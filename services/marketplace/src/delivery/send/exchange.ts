import { type Connection, dropConnection } from "./connection.ts";
import { Failure, failureFrom } from "./failure.ts";
import { retryAfterMs } from "./retry-after.ts";
import type { OutgoingRequest, ReceivedResponse, RequestProgress } from "./send-result.ts";
import { snippetBytes, snippetOf } from "./snippet.ts";

/** Whatever their headers say: many a framework sends a 204 with the length of a body, and that body. */
const bodiless = new Set([204, 304]);
const maxInformationalResponses = 16;
/** As much as one read brings: what was over its limit only with the last one may have kept to it. */
const oneRead = 65_536;
const maxHeadBytes = 16_384 + oneRead;
/** What a regular response may need besides its body, such as the sizes of its chunks. */
const besidesTheBody = 65_536 + oneRead;

/**
 * Sends one request over a connection that no other request uses meanwhile, and reads the response. Beyond the body limit reading stops
 * and the response counts: its status has arrived.
 */
export function exchange(
  connection: Connection,
  path: string,
  { headers, body }: OutgoingRequest,
  maxBodyBytes: number,
  progress: RequestProgress,
): Promise<ReceivedResponse> {
  const { client, socket } = connection;
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let readBytes = 0;
    let informational = 0;
    let begun: Pick<ReceivedResponse, "statusCode" | "retryAfterMs"> | undefined;

    const responded = (head: NonNullable<typeof begun>): void => {
      const snippet = snippetOf(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks));
      resolve({ outcome: "answered", ...head, snippet });
    };
    const stopReading = (): void => {
      if (begun === undefined) reject(new Failure("headers-too-large"));
      else responded(begun);
      dropConnection(connection);
    };

    connection.readLimit = socket.bytesRead + maxHeadBytes;
    connection.onTooMuch = stopReading;
    progress.stage = "headers";
    progress.abort = () => {
      if (progress.stage === "headers" && socket.writableLength > 0) progress.stage = "send";
      dropConnection(connection);
    };
    client.dispatch(
      { method: "POST", path, headers, body },
      {
        onRequestStart: () => {},
        onResponseStart: (_controller, statusCode, responseHeaders) => {
          if (statusCode >= 200) {
            begun = { statusCode, retryAfterMs: retryAfterMs(statusCode, responseHeaders["retry-after"]) };
            progress.stage = "body";
            connection.readLimit += maxBodyBytes + besidesTheBody;
            return;
          }
          informational += 1;
          if (informational <= maxInformationalResponses) return;
          reject(new Failure("too-many-informational-answers"));
          dropConnection(connection);
        },
        onResponseData: (_controller, chunk) => {
          if (readBytes <= snippetBytes) chunks.push(chunk);
          readBytes += chunk.length;
          if (readBytes > maxBodyBytes) stopReading();
        },
        onResponseEnd: () => {
          if (begun !== undefined) responded(begun);
        },
        onResponseError: (_controller, error: NodeJS.ErrnoException) => {
          if (error.syscall === "write") progress.stage = "send";
          if (begun !== undefined && bodiless.has(begun.statusCode)) responded(begun);
          else reject(failureFrom(error, "connection-closed"));
          dropConnection(connection);
        },
      },
    );
  });
}
