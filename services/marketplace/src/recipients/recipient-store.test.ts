import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { cleanUpAfter, cloneDatabase, withClient } from "@ehr-marketplace/test-kit";
import { connectAsService, type ServiceConnection } from "@ehr-marketplace/tests/support/service-connection";
import { v7 as uuid } from "uuid";
import type { DB } from "../database-schema.ts";
import { applyRecipientEvent } from "./apply-recipient-event.ts";
import { initialState } from "./recipient.ts";
import { lockRecipient, type Recipient } from "./recipient-store.ts";

describe("the recipient of an organisation", () => {
  const cleanUp = cleanUpAfter();
  let ownerUrl: string;
  let connection: ServiceConnection<DB>;
  before(async () => {
    const cloned = await cloneDatabase(cleanUp, "demo");
    ({ ownerUrl } = cloned);
    connection = await connectAsService<DB>(cleanUp, cloned.serviceUrl);
  });

  const createdAt = new Date("2026-03-01T12:00:00Z");
  async function insertOrganisation(callbackUrl: string | null): Promise<string> {
    const id = uuid();
    await withClient(ownerUrl, (client) =>
      client.query(
        `insert into organisations (id, alias, display_name, callback_url, encrypted_secret, created_at, updated_at)
         values ($1::uuid, $1::text, 'Practice', $2, '1.x', $3, $3)`,
        [id, callbackUrl, createdAt],
      ),
    );
    return id;
  }
  const read = (id: string): Promise<Recipient> =>
    connection.database.transaction().execute((transaction) => lockRecipient(transaction, id));

  for (const callbackUrl of ["https://ehr.example", null]) {
    test(`starts in the initial state ${callbackUrl === null ? "without" : "with"} a callback`, async () => {
      const id = await insertOrganisation(callbackUrl);
      const expected = { kind: "ehr", state: initialState(callbackUrl !== null, createdAt) };
      const { kind, state } = await read(id);
      assert.deepEqual({ kind, state }, expected);
    });
  }

  test("stores every column of the state that an event leads to", async () => {
    const id = await insertOrganisation("https://ehr.example");
    const failAt = (at: Date) =>
      connection.database.transaction().execute((transaction) =>
        applyRecipientEvent(transaction, connection.queue, id, {
          type: "delivery-failed",
          at,
          isProbe: false,
          isGone: false,
        }),
      );
    for (let failures = 1; failures <= 5; failures += 1) {
      const at = new Date(createdAt.getTime() + failures * 1_000);
      const { state } = await failAt(at);
      assert.deepEqual((await read(id)).state, state);
    }
    const { state } = await read(id);
    assert.deepEqual([state.status, state.consecutiveFailures], ["held", 5]);
  });
});
