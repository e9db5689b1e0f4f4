import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { test } from "node:test";
import { cleanUpAfter } from "@ehr-marketplace/test-kit";
import { createLogger } from "../telemetry/logger.ts";
import { createPool } from "./connect.ts";
import { listen } from "./listen.ts";

/** Those of the protocol, and those that PgBouncer tracks for each client. */
const accepted = ["user", "database", "client_encoding", "application_name"];

test("connections ask for no start-up parameter that PgBouncer refuses", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const server = createServer().listen(0, "127.0.0.1");
  cleanUp(async () => void server.close());
  await once(server, "listening");
  const url = `postgres://nobody@127.0.0.1:${(server.address() as AddressInfo).port}/nothing`;
  const logger = createLogger({ service: "test", level: "silent" });
  /** Returns the names of the start-up parameters of the next connection, which is then closed. */
  const readParameters = async (): Promise<string[]> => {
    const [socket] = (await once(server, "connection")) as [Socket];
    const [message] = (await once(socket, "data")) as [Buffer];
    socket.destroy();
    // After the length and the version of the protocol: names and values in turn.
    const parts = message.subarray(8).toString().split("\0");
    return parts.filter((name, index) => index % 2 === 0 && name !== "");
  };

  const pool = createPool({ url, service: "test", poolSize: 1, statementTimeoutMs: 5_000, logger });
  cleanUp(() => pool.end());
  const ofPool = readParameters();
  await assert.rejects(pool.query("select 1"));
  assert.deepEqual(new Set(await ofPool).difference(new Set(accepted)), new Set());

  const ofListener = readParameters();
  const ignore = (): undefined => undefined;
  const listener = listen({ url, service: "test", channel: "c", onNotification: ignore, onConnected: ignore, logger });
  assert.deepEqual(new Set(await ofListener).difference(new Set(accepted)), new Set());
  await listener.stop();
});
