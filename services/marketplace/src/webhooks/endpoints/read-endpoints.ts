import type { PageQuery, WebhookEndpointDto, WebhookEndpointPage } from "@ehr-marketplace/contracts";
import { Problem, pageOf } from "@ehr-marketplace/service-kit/http";
import type { Kysely } from "kysely";
import type { ActingForVendor } from "../../access/acting-for-vendor.ts";
import type { DB } from "../../database-schema.ts";
import { endpointProblems } from "./endpoint-errors.ts";
import { endpointRecord } from "./endpoint-record.ts";
import { type EndpointRow, findEndpoint, findEndpoints } from "./endpoint-store.ts";

export interface Reading {
  database: Kysely<DB>;
  clock: () => Date;
}

/** The same whether it doesn't exist, is another vendor's or was deleted: nobody learns which. */
export function noEndpoint(): Problem {
  return new Problem(endpointProblems.notFound, "No endpoint of this vendor has that id.");
}

export async function endpointOf(database: Kysely<DB>, by: ActingForVendor, id: string): Promise<EndpointRow> {
  const row = await findEndpoint(database, by.vendor, id);
  if (row === undefined) throw noEndpoint();
  return row;
}

export async function getEndpoint(
  { database, clock }: Reading,
  by: ActingForVendor,
  id: string,
): Promise<WebhookEndpointDto> {
  return endpointRecord(await endpointOf(database, by, id), clock());
}

export async function listEndpoints(
  { database, clock }: Reading,
  by: ActingForVendor,
  query: PageQuery,
): Promise<WebhookEndpointPage> {
  const now = clock();
  return pageOf(query, {
    find: (slice) => findEndpoints(database, by.vendor, slice),
    timeOf: (row) => row.created_at,
    itemOf: (row) => endpointRecord(row, now),
  });
}
