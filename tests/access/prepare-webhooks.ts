import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { ask } from "@ehr-marketplace/tests/support";
import type { Prepared } from "./prepare-subscriptions.ts";

const named = { "x-vendor-slug": "northwind-health" };
const registration = {
  url: "http://127.0.0.1:9/hook",
  secret: "a secret of the matrix",
  events: ["subscription.created"],
};
const bodies: Record<string, object> = {
  "POST webhooks": registration,
  "PATCH :id": { events: ["subscription.cancelled"] },
  "POST rotate-secret": { secret: "another secret of the matrix" },
  "POST replays": { failures: true },
};

/** Routes that `prepareWebhooks` has the requests for; `prepareSubscriptions` has the others. */
export const isForWebhooks = (route: string): boolean => /webhooks|\/developer\//.test(route);

export async function prepareWebhooks(url: string, operator: string): Promise<Prepared> {
  const operate = async <T>(path: string, body?: object): Promise<T> => {
    const asking = { method: "POST", headers: named, ...(body === undefined ? {} : { body }) };
    const answer = await ask(url, `/developer/webhooks${path}`, operator, asking);
    assert.ok(answer.ok, `${path}: ${await answer.clone().text()}`);
    return (await answer.json()) as T;
  };
  const endpoint = async (): Promise<string> => (await operate<{ id: string }>("", registration)).id;
  const standing = await endpoint();
  const { deliveryId } = await operate<{ deliveryId: string }>(`/${standing}/test`);
  const replayed = await endpoint();
  const replay = await operate<{ id: string }>(`/${replayed}/replays`, { failures: true });
  let doomed = await endpoint();

  return {
    async question(route, on) {
      const [method = "", path = ""] = route.split(" ");
      const last = path.split("/").at(-1) ?? "";
      if (method === "DELETE" && last === ":id") {
        const there = await ask(url, `/developer/webhooks/${doomed}`, operator, { headers: named });
        if (there.status === 404) doomed = await endpoint();
      }
      if (last === "promote-secret") await operate(`/${standing}/rotate-secret`, bodies["POST rotate-secret"]);
      const deletes = method === "DELETE" && last === ":id";
      const id = on === "nobody's" ? randomUUID() : deletes ? doomed : path.includes(":replayId") ? replayed : standing;
      const body = bodies[`${method} ${last}`];
      return {
        path: path.replace(":id", id).replace(":deliveryId", deliveryId).replace(":replayId", replay.id),
        ...(body === undefined ? {} : { body }),
        ...(on.endsWith("by name") ? { headers: named } : {}),
      };
    },
  };
}
