import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { sendApiRequest } from "@ehr-marketplace/tests/support/callers";
import { currentMonth, type RequestBuilder } from "./prepare-subscriptions.ts";

const named = { "x-vendor-slug": "northwind-health" };
const registration = {
  url: "http://127.0.0.1:9/hook",
  secret: "a secret of the matrix",
  events: ["subscription.created"],
};
const bodies: Record<string, object> = {
  "POST webhooks": registration,
  "PATCH :id": { events: ["subscription.cancelled"] },
  "POST replays": { failures: true },
};

/** A new one each time: the current secret is refused. */
const rotation = (): object => ({ secret: `another secret of the matrix, ${randomUUID()}` });

/** Whether `prepareWebhooks` builds the requests of a route; `prepareSubscriptions` builds the others. */
export const isForWebhooks = (route: string): boolean => /webhooks|\/developer\//.test(route);

export async function prepareWebhooks(url: string, operator: string): Promise<RequestBuilder> {
  const operate = async <T>(path: string, body?: object): Promise<T> => {
    const options = { method: "POST", headers: named, ...(body === undefined ? {} : { body }) };
    const response = await sendApiRequest(url, `/developer/webhooks${path}`, operator, options);
    assert.ok(response.ok, `${path}: ${await response.clone().text()}`);
    return (await response.json()) as T;
  };
  const endpoint = async (): Promise<string> => (await operate<{ id: string }>("", registration)).id;
  const existing = await endpoint();
  const { deliveryId } = await operate<{ deliveryId: string }>(`/${existing}/test`);
  const replayed = await endpoint();
  const replay = await operate<{ id: string }>(`/${replayed}/replays`, { failures: true });
  let deletable = await endpoint();

  return {
    async buildRequest(route, on) {
      const [method = "", path = ""] = route.split(" ");
      const last = path.split("/").at(-1) ?? "";
      if (method === "DELETE" && last === ":id") {
        const found = await sendApiRequest(url, `/developer/webhooks/${deletable}`, operator, { headers: named });
        if (found.status === 404) deletable = await endpoint();
      }
      if (last === "promote-secret") await operate(`/${existing}/rotate-secret`, rotation());
      const isDelete = method === "DELETE" && last === ":id";
      const id =
        on === "an unknown id" ? randomUUID() : isDelete ? deletable : path.includes(":replayId") ? replayed : existing;
      const body = last === "rotate-secret" ? rotation() : bodies[`${method} ${last}`];
      return {
        path: path
          .replace(":id", id)
          .replace(":deliveryId", deliveryId)
          .replace(":replayId", replay.id)
          .replace(":month", currentMonth()),
        ...(body === undefined ? {} : { body }),
        ...(on.endsWith("by name") ? { headers: named } : {}),
      };
    },
  };
}
