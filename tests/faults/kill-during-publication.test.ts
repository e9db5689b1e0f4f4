import assert from "node:assert/strict";
import { randomInt } from "node:crypto";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import type { AppDto, ListingDto } from "@ehr-marketplace/contracts";
import { cleanUpAfter, cloneDatabase, eventually, rounds, timeLimitMs, withClient } from "@ehr-marketplace/test-kit";
import { fetchCallers, sendApiRequest } from "@ehr-marketplace/tests/support/callers";
import { signToken } from "@ehr-marketplace/tests/support/forged-tokens";
import { patientLimits } from "@ehr-marketplace/tests/support/patient-limits";
import { findHalfPublished } from "@ehr-marketplace/tests/support/publication-consistency";
import { createPublisher, type Publisher } from "@ehr-marketplace/tests/support/publisher";
import { startReceiver } from "@ehr-marketplace/tests/support/receiver";
import {
  type ServiceProcess,
  startApiProcess,
  startWorkerProcess,
} from "@ehr-marketplace/tests/support/service-process";
import { readAttemptLog, waitUntilSettled } from "./arrivals.ts";

const publishersAtOnce = 3;
/** A vendor can submit 50 revisions a day; a submission without a response may count too. */
const maxSubmissions = 40;
const count = rounds(2, 20);

interface Publication {
  vendor: string;
  slug: string;
  payload: string;
  /** Null if the event has no delivery. */
  delivery: string | null;
}

/** The `app.updated` events of the given vendors, with their deliveries. */
const findPublications = (ownerUrl: string, vendors: string[]): Promise<Publication[]> =>
  withClient(ownerUrl, async (client) => {
    const { rows } = await client.query<Publication>(
      `select v.slug as vendor, e.payload::json #>> '{app,slug}' as slug, e.payload, d.id as delivery
       from events e join vendors v on v.id = e.vendor_id left join deliveries d on d.event_id = e.id
       where e.event = 'app.updated' and v.slug = any ($1)`,
      [vendors],
    );
    return rows;
  });

test("kill -9 of API and worker during publications: nothing is half published, what was acknowledged stays, and each app.updated arrives", {
  timeout: timeLimitMs(count, 60),
}, async (t) => {
  const cleanUp = cleanUpAfter(t);
  const callers = await fetchCallers();
  const { serviceUrl, ownerUrl } = await cloneDatabase(cleanUp, "demo");
  const operator = callers.token("operator");
  const receiver = await startReceiver(cleanUp);
  receiver.respond = (_received, response) => {
    // The delay gives a worker time to die between request and response.
    setTimeout(() => response.writeHead(204).end(), randomInt(30));
  };
  const options = { environment: { ...callers.environment, LOG_LEVEL: "error" } };
  const startBoth = (): Promise<[ServiceProcess, ServiceProcess]> =>
    Promise.all([
      startApiProcess(cleanUp, serviceUrl, { environment: { ...options.environment, ...patientLimits } }),
      startWorkerProcess(cleanUp, serviceUrl, options),
    ]);
  const killSoon = async ({ child, exited }: ServiceProcess, beforeKill?: () => void): Promise<void> => {
    await delay(randomInt(300));
    beforeKill?.();
    child.kill("SIGKILL");
    await exited;
    assert.equal(child.signalCode, "SIGKILL", "the process has run until it was killed");
  };
  const vendors: string[] = [];
  /** The version of each app that an approval was acknowledged for last. */
  const acknowledged = new Map<string, number>();
  let approvals = 0;

  for (let round = 0; round < count; round += 1) {
    const [api, worker] = await startBoth();
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

    const before = { approvals, received: receiver.received.length };
    const working = Promise.all(
      Array.from({ length: publishersAtOnce }, async (_, index) => {
        const vendor = `killed-${round}-${index}`;
        vendors.push(vendor);
        const tokens = {
          vendor: await signToken(callers, { sub: vendor, vendor, roles: ["vendor-developer"] }),
          operator,
        };
        try {
          const registered = { method: "PUT", body: { name: vendor } };
          assert.equal((await sendApiRequest(api.url, `/admin/vendors/${vendor}`, operator, registered)).status, 201);
          const publisher = createPublisher<"vendor">(api.url, (who) => tokens[who], "vendor");
          const endpoint = {
            url: `${receiver.url}/${vendor}`,
            secret: `a secret of ${vendor}`,
            events: ["app.updated"],
          };
          assert.equal((await publisher.request("vendor", "/developer/webhooks", { body: endpoint })).status, 201);
          await publisher.create(`app-of-${vendor}`);
          await publish(publisher, `app-of-${vendor}`);
        } catch (error) {
          // The process died during a request.
          if (isAlive || error instanceof assert.AssertionError) throw error;
        }
      }),
    );
    const underWay = eventually(
      "approvals succeed and events arrive",
      60_000,
      () => approvals > before.approvals + 1 && receiver.received.length > before.received,
    );
    await Promise.race([working, underWay]);
    await Promise.all([
      killSoon(api, () => {
        isAlive = false;
      }),
      killSoon(worker),
    ]);
    await working;
    assert.deepEqual(await findHalfPublished(ownerUrl), [], `after round ${round + 1}`);
  }

  const [api] = await startBoth();
  await waitUntilSettled(ownerUrl);
  const publications = await findPublications(ownerUrl, vendors);
  for (const [slug, version] of acknowledged) {
    const app = (await (await sendApiRequest(api.url, `/apps/${slug}`, undefined)).json()) as AppDto;
    // An approval without a response may have been committed.
    assert.ok([version, version + 1].includes(Number(app.version)), `${slug}: ${app.version}, acknowledged ${version}`);
    const published = publications.filter((each) => each.slug === slug);
    assert.equal(published.length, Number(app.version), `${slug}: each version has one event with one delivery`);
  }
  assert.ok(approvals > count, `${approvals} approvals`);

  const expected = new Map(publications.map((each) => [each.delivery, each]));
  const arrived = new Set<string>();
  for (const { path, headers, body } of receiver.received) {
    const id = String(headers["x-marketplace-delivery-id"]);
    const { vendor, payload } = expected.get(id) ?? assert.fail(`${id} is no delivery of a publication`);
    assert.deepEqual({ path, body }, { path: `/${vendor}`, body: payload }, "each request is what was committed");
    arrived.add(id);
  }
  const lost = publications.filter(({ delivery }) => delivery === null || !arrived.has(delivery));
  assert.deepEqual(lost, [], "each event has arrived");
  const { unknown, unlogged } = await readAttemptLog(ownerUrl);
  assert.equal(unlogged, 0);
  t.diagnostic(
    `${count} kills of API and worker: ${approvals} approvals acknowledged, ${publications.length - approvals} committed without a ` +
      `response, none half published; ${arrived.size} app.updated delivered, lost 0, ` +
      `${receiver.received.length - arrived.size} duplicates, ${unknown} attempts with an unknown outcome`,
  );
});
