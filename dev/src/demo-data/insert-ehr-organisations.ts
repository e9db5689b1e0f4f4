import { secretOwner } from "@ehr-marketplace/ehr/organisation";
import { createSeal, parseEncryptionKeys } from "@ehr-marketplace/service-kit/secrets";
import { withClient } from "../postgres/service-database.ts";
import { developmentEncryptionKeys } from "../service-environments.ts";

/** Tells the EHR the secrets that the marketplace signs with; organisations that are there already keep what they have. */
export async function insertEhrOrganisations(
  ownerUrl: string,
  organisations: { alias: string; secret: string }[],
): Promise<void> {
  const seal = createSeal(parseEncryptionKeys(developmentEncryptionKeys));
  await withClient(ownerUrl, (client) =>
    client.query(
      `insert into organisations (alias, sealed_secret, created_at, updated_at)
       select alias, sealed, now(), now() from unnest($1::text[], $2::text[]) as given (alias, sealed)
       on conflict (alias) do update set sealed_secret = excluded.sealed_secret`,
      [
        organisations.map(({ alias }) => alias),
        organisations.map(({ alias, secret }) => seal.close(secret, secretOwner(alias))),
      ],
    ),
  );
}
