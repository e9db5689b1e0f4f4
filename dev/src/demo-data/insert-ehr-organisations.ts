import { secretOwner } from "@ehr-marketplace/ehr/organisation";
import { createEncryption, parseEncryptionKeys } from "@ehr-marketplace/service-kit/secrets";
import { withClient } from "@ehr-marketplace/test-kit";
import { developmentEncryptionKeys } from "../service-environments.ts";

/** Inserts organisations with their signing secrets into the EHR's database; existing organisations are not changed. */
export async function insertEhrOrganisations(
  ownerUrl: string,
  organisations: { alias: string; secret: string }[],
): Promise<void> {
  const seal = createEncryption(parseEncryptionKeys(developmentEncryptionKeys));
  await withClient(ownerUrl, (client) =>
    client.query(
      `insert into organisations (alias, encrypted_secret, created_at, updated_at)
       select alias, sealed, now(), now() from unnest($1::text[], $2::text[]) as given (alias, sealed)
       on conflict (alias) do update set encrypted_secret = excluded.encrypted_secret`,
      [
        organisations.map(({ alias }) => alias),
        organisations.map(({ alias, secret }) => seal.encrypt(secret, secretOwner(alias))),
      ],
    ),
  );
}
