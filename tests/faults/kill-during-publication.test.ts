import assert from "node:assert/strict";
import { randomInt } from "node:crypto";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import type { AppDto, ListingDto } from "@ehr-marketplace/contracts";
import { cleanUpAfter, cloneDatabase, eventually, rounds } from "@ehr-marketplace/test-kit";
import {
  createPublisher,
  fetchCallers,
  findHalfPublished,
  type Publisher,
  sendApiRequest,
  signToken,
  startApiProcess,
} from "@ehr-marketplace/tests/support";

const publishersAtOnce = 3;
/** A vendor can submit 50 revisions a day; a submission without a response may count too. */
const maxSubmissions = 40;

test("kill -9 during publications: nothing is half published, and what was acknowledged stays", async (t) => {
  const cleanUp = cleanUpAfter(t);
  const callers = await fetchCallers();
  const { serviceUrl, ownerUrl } = await cloneDatabase(cleanUp, "demo");
  const operator = callers.token("operator");
  const count = rounds(4, 20);
  /** The version of each app that an approval was acknowledged for last. */
  const acknowledged = new Map<string, number>();
  let approvals = 0;

  for (let round = 0; round < count; round += 1) {
    const api = await startApiProcess(cleanUp, serviceUrl, {
      environment: { ...callers.environment, LOG_LEVEL: "warn" },
    });
    let isAlive = true;
    const publish = async (publisher: Publisher<"vendor">, slug: string): Promise<void> => {
      const send = async <T>(...args: Parameters<Publisher<"vendor">["request"]>): Promise<T> => {
        const response = await publisher.request(...args);
        assert.equal(response.status, 200, await response.clone().text());
        return (await response.json()) as T;
      };
      for (let version = 1; version <= maxSubmissions; version += 1) {
        if (!isAlive) return;
        const headers = { "if-match": (await publisher.read(slug)).etag };
        await send("vendor", `/developer/apps/${slug}`, {
          method: "PATCH",
          body: { version: String(version) },
          headers,
        });
        const listing = await send<ListingDto>("vendor", `/developer/apps/${slug}/submit`, { method: "POST" });
        await send("operator", `/admin/reviews/${listing.review?.id}/approve`, { body: {} });
        acknowledged.set(slug, version);
        approvals += 1;
      }
    };

    const before = approvals;
    const working = Promise.all(
      Array.from({ length: publishersAtOnce }, async (_, index) => {
        const vendor = `killed-${round}-${index}`;
        const tokens = {
          vendor: await signToken(callers, { sub: vendor, vendor, roles: ["vendor-developer"] }),
          operator,
        };
        try {
          const registered = { method: "PUT", body: { name: vendor } };
          assert.equal((await sendApiRequest(api.url, `/admin/vendors/${vendor}`, operator, registered)).status, 201);
          const publisher = createPublisher<"vendor">(api.url, (who) => tokens[who], "vendor");
          await publisher.create(`app-of-${vendor}`);
          await publish(publisher, `app-of-${vendor}`);
        } catch (error) {
          // The process died during a request.
          if (isAlive || error instanceof assert.AssertionError) throw error;
        }
      }),
    );
    await Promise.race([working, eventually("approvals succeed", 60_000, () => approvals > before + 1)]);
    await delay(randomInt(0, 300));
    isAlive = false;
    api.child.kill("SIGKILL");
    await api.exited;
    await working;
    assert.deepEqual(await findHalfPublished(ownerUrl), [], `after round ${round + 1}`);
  }

  const api = await startApiProcess(cleanUp, serviceUrl, {
    environment: { ...callers.environment, LOG_LEVEL: "warn" },
  });
  for (const [slug, version] of acknowledged) {
    const app = (await (await sendApiRequest(api.url, `/apps/${slug}`, undefined)).json()) as AppDto;
    // An approval without a response may have been committed.
    assert.ok([version, version + 1].includes(Number(app.version)), `${slug}: ${app.version}, acknowledged ${version}`);
  }
  assert.ok(approvals > count, `${approvals} approvals`);
  t.diagnostic(`${count} kills: ${approvals} approvals acknowledged, none half published`);
});
