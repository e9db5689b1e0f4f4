import type { PageQuery, WebhookEndpointDto, WebhookEndpointPage } from "@ehr-marketplace/contracts";
import { listPage, Problem } from "@ehr-marketplace/service-kit/http";
import type { Kysely } from "kysely";
import type { VendorContext } from "../access/vendor-context.ts";
import type { DB } from "../database-schema.ts";
import { endpointProblems } from "./endpoint-errors.ts";
import { endpointRecord } from "./endpoint-record.ts";
import { type EndpointRow, findEndpoint, findEndpoints } from "./endpoint-store.ts";

export interface EndpointReadDeps {
  database: Kysely<DB>;
  clock: () => Date;
}

/** The same response for unknown, foreign and deleted endpoints, so that it doesn't reveal which. */
export function endpointNotFound(): Problem {
  return new Problem(endpointProblems.notFound, "No endpoint of this vendor has that id.");
}

export async function getEndpointRow(database: Kysely<DB>, by: VendorContext, id: string): Promise<EndpointRow> {
  const row = await findEndpoint(database, by.vendor, id);
  if (row === undefined) throw endpointNotFound();
  return row;
}

export async function getEndpoint(
  { database, clock }: EndpointReadDeps,
  by: VendorContext,
  id: string,
): Promise<WebhookEndpointDto> {
  return endpointRecord(await getEndpointRow(database, by, id), clock());
}

export async function listEndpoints(
  { database, clock }: EndpointReadDeps,
  by: VendorContext,
  query: PageQuery,
): Promise<WebhookEndpointPage> {
  const now = clock();
  return listPage(query, {
    find: (slice) => findEndpoints(database, by.vendor, slice),
    getTime: (row) => row.created_at,
    toItem: (row) => endpointRecord(row, now),
  });
}
