import type { ClientStatus } from "@ehr-marketplace/contracts";
import type { PageSlice } from "@ehr-marketplace/service-kit/http";
import { type Insertable, type Kysely, type Selectable, sql, type Transaction, type Updateable } from "kysely";
import type { Clients, DB } from "../database-schema.ts";

export type ClientRow = Selectable<Clients>;

/** Which client: of one organisation, or with null of all. */
export interface ClientKey {
  appSlug: string;
  orgAlias: string | null;
}

export function findClient(database: Kysely<DB>, id: string): Promise<ClientRow | undefined> {
  return database.selectFrom("clients").selectAll().where("id", "=", id).executeTakeFirst();
}

export function lockClient(transaction: Transaction<DB>, id: string): Promise<ClientRow | undefined> {
  return transaction.selectFrom("clients").selectAll().where("id", "=", id).forUpdate().executeTakeFirst();
}

const selectByKey = (database: Kysely<DB>, { appSlug, orgAlias }: ClientKey) =>
  database
    .selectFrom("clients")
    .selectAll()
    .where("app_slug", "=", appSlug)
    .where("org_alias", orgAlias === null ? "is" : "=", orgAlias);

export function findClientByKey(database: Kysely<DB>, key: ClientKey): Promise<ClientRow | undefined> {
  return selectByKey(database, key).executeTakeFirst();
}

export function lockClientByKey(transaction: Transaction<DB>, key: ClientKey): Promise<ClientRow | undefined> {
  return selectByKey(transaction, key).forUpdate().executeTakeFirst();
}

/** Does nothing if the app has the client already. */
export async function insertClient(transaction: Transaction<DB>, row: Insertable<Clients>): Promise<void> {
  await transaction
    .insertInto("clients")
    .values(row)
    .onConflict((conflict) => conflict.constraint("clients_of_app").doNothing())
    .execute();
}

export async function updateClient(
  transaction: Transaction<DB>,
  id: string,
  changes: Updateable<Clients>,
): Promise<void> {
  await transaction.updateTable("clients").set(changes).where("id", "=", id).execute();
}

export async function deleteClient(transaction: Transaction<DB>, id: string): Promise<void> {
  await transaction.deleteFrom("clients").where("id", "=", id).execute();
}

/** The client by its id at the authorization server. */
export function findRegisteredClient(database: Kysely<DB>, clientId: string) {
  return database.selectFrom("clients").selectAll().where("client_id", "=", clientId).executeTakeFirst();
}

export interface InstalledApp {
  /** Whether an organisation that the client is for has the app installed. */
  isNeeded: boolean;
  /** Whether the app is launched by SMART, or has `system/` scopes. */
  signsIn: boolean;
}

/** What decides whether a client is wanted. `offset 0` keeps PostgreSQL from reading the whole table instead of looking one row up. */
export async function findInstalledApp(
  database: Kysely<DB>,
  { appSlug, orgAlias }: ClientKey,
): Promise<InstalledApp | undefined> {
  const ofOrganisation = orgAlias === null ? sql`` : sql`and org_alias = ${orgAlias}`;
  const { rows } = await sql<InstalledApp>`
    select
      exists (select from installations
        where app_slug = ${appSlug} ${ofOrganisation} and status <> 'removed' offset 0) as "isNeeded",
      smart_launch_url is not null or coalesce(fhir_scopes, '') ~ '(^| )system/' as "signsIn"
    from apps where slug = ${appSlug}`.execute(database);
  return rows[0];
}

/** The alias of any organisation that has the app installed. */
export async function findInstallationOf(database: Kysely<DB>, appSlug: string): Promise<string | undefined> {
  const { rows } = await sql<{ org_alias: string }>`
    select org_alias from installations where app_slug = ${appSlug} and status <> 'removed'
    order by org_alias limit 1`.execute(database);
  return rows[0]?.org_alias;
}

export interface ClientFilter {
  status: ClientStatus | undefined;
  onlyTasks: boolean;
}

export type ListedClient = ClientRow & { metadata: string | null };

/** Clients with the metadata of their apps, the newest first. */
export async function findClients(
  database: Kysely<DB>,
  { status, onlyTasks }: ClientFilter,
  { after, limit }: PageSlice,
): Promise<ListedClient[]> {
  const { rows } = await sql<ListedClient>`
    select clients.*, described.metadata
    from (
      select * from clients
      where true
        ${status === undefined ? sql`` : sql`and status = ${status}`}
        ${onlyTasks ? sql`and task is not null` : sql``}
        ${after === undefined ? sql`` : sql`and (created_at, id) < (${after.at}::timestamptz, ${after.id}::uuid)`}
      order by created_at desc, id desc limit ${sql.lit(limit)}
    ) clients
    left join lateral (
      select metadata from client_metadata where client_metadata.app_slug = clients.app_slug limit 1
    ) described on true
    order by created_at desc, id desc`.execute(database);
  return rows;
}

export async function countTasks(database: Kysely<DB>): Promise<number> {
  const { rows } = await sql<{ count: string }>`select count(*) as count from clients where task is not null`.execute(
    database,
  );
  return Number(rows[0]?.count ?? 0);
}

const incomplete = ["failed", "pending", "removing"] as const;
export type IncompleteStatus = (typeof incomplete)[number];
/** Each status is read at most this far, the newest clients first. */
const maxCounted = 10_000;

/** How many clients have each of these statuses without a task, and with none of these reasons. */
export async function countIncomplete(
  database: Kysely<DB>,
  exceptReasons: readonly string[],
): Promise<{ status: IncompleteStatus; count: number }[]> {
  const { rows } = await sql<{ status: IncompleteStatus; count: number }>`
    select status, counted.count
    from unnest(${[...incomplete]}::text[]) as statuses (status)
    cross join lateral (
      select count(*)::int as count from (
        select task, reason from clients
        where clients.status = statuses.status order by created_at desc, id desc limit ${sql.lit(maxCounted)}
      ) newest
      where task is null and (reason is null or reason <> all(${[...exceptReasons]}::text[]))
    ) counted`.execute(database);
  return rows;
}

/** The apps that are installed, or that have a client, by slug. */
export async function findAppsWithClients(database: Kysely<DB>, after: string, limit: number): Promise<string[]> {
  const { rows } = await sql<{ slug: string }>`
    select slug from apps
    where slug > ${after} and (
      exists (select from installations where app_slug = apps.slug and status <> 'removed' offset 0)
      or exists (select from clients where app_slug = apps.slug offset 0))
    order by slug limit ${sql.lit(limit)}`.execute(database);
  return rows.map(({ slug }) => slug);
}

/**
 * The organisations whose client of the app may need something, by alias: it isn't ready, has other metadata than the marketplace's, isn't
 * wanted, or isn't reported; or each, if no organisation should have one of its own. Those that only an operator can settle are left out.
 */
export async function findClientsToAdvance(
  database: Kysely<DB>,
  { appSlug, isEach, reports }: { appSlug: string; isEach: boolean; reports: boolean },
  after: string,
  limit: number,
): Promise<{ id: string; orgAlias: string }[]> {
  const installation = sql`
    from installations where app_slug = ${appSlug} and org_alias = clients.org_alias and status <> 'removed'`;
  const isUnreported = reports
    ? sql`exists (select ${installation} and reported_version is distinct from clients.version offset 0)`
    : sql`false`;
  const { rows } = await sql<{ id: string; orgAlias: string }>`
    select id, org_alias as "orgAlias" from clients
    where app_slug = ${appSlug} and org_alias > ${after} and (${isUnreported} or (status <> 'uncertain' and (
      ${sql.lit(isEach)} or status <> 'ready' or attempt is not null
      or registered_sha256 is distinct from (select sha256 from client_metadata where app_slug = ${appSlug})
      or not exists (select ${installation} offset 0))))
    order by org_alias limit ${sql.lit(limit)}`.execute(database);
  return rows;
}

/** The organisations that have the app installed and no client of their own, by alias. */
export async function findOrganisationsWithoutClient(
  database: Kysely<DB>,
  appSlug: string,
  after: string,
  limit: number,
): Promise<string[]> {
  const { rows } = await sql<{ org_alias: string }>`
    select org_alias from installations
    where app_slug = ${appSlug} and org_alias > ${after} and status <> 'removed'
      and not exists (select from clients
        where app_slug = ${appSlug} and clients.org_alias = installations.org_alias offset 0)
    order by org_alias limit ${sql.lit(limit)}`.execute(database);
  return rows.map(({ org_alias }) => org_alias);
}

/** Locks clients whose registration token is encrypted with another key version. */
export function lockTokensToReencrypt(transaction: Transaction<DB>, version: number, limit: number) {
  return transaction
    .selectFrom("clients")
    .select("id")
    .select((row) => row.ref("encrypted_registration_token").$notNull().as("encrypted_registration_token"))
    .where("encrypted_registration_token", "not like", `${version}.%`)
    .orderBy("id")
    .limit(limit)
    .forNoKeyUpdate()
    .execute();
}
