import { secretOwner } from "@ehr-marketplace/marketplace/organisation";
import { createEncryption, parseEncryptionKeys } from "@ehr-marketplace/service-kit/secrets";
import type pg from "pg";
import { v7 as uuid } from "uuid";
import { developmentEncryptionKeys, loopbackNetworks } from "../service-environments.ts";
import type { DemoOrganisation } from "./demo-organisations.ts";

/** Inserts or updates organisations; existing ones keep their ids and subscriptions. */
export async function insertOrganisations(
  client: pg.Client,
  organisations: DemoOrganisation[],
  callbackUrl: string,
): Promise<void> {
  const seal = createEncryption(parseEncryptionKeys(developmentEncryptionKeys));
  for (const { alias, displayName, secret } of organisations) {
    const found = await client.query<{ id: string }>("select id from organisations where alias = $1", [alias]);
    const id = found.rows[0]?.id ?? uuid();
    await client.query(
      `insert into organisations
         (id, alias, display_name, callback_url, callback_networks, encrypted_secret, created_at, updated_at)
       values ($1, $2, $3, $4, $5, $6, now(), now())
       on conflict (id) do update set callback_url = excluded.callback_url,
         callback_networks = excluded.callback_networks, encrypted_secret = excluded.encrypted_secret`,
      [id, alias, displayName, callbackUrl, loopbackNetworks, seal.encrypt(secret, secretOwner(id))],
    );
  }
}
