import { randomUUID } from "node:crypto";
import { developmentEncryptionKeys } from "@ehr-marketplace/dev/marketplace-environment";
import { withClient } from "@ehr-marketplace/dev/postgres";
import { secretOwner } from "@ehr-marketplace/marketplace/organisation";
import { createSeal, parseEncryptionKeys } from "@ehr-marketplace/service-kit/secrets";

export interface BenchPractice {
  id: string;
  alias: string;
}

/** Practices whose EHR listens at the URL; those whose number divides evenly by `hangsEvery` listen where nothing answers. */
export async function makePractices(
  ownerUrl: string,
  given: { count: number; prefix: string; url: string; hangsEvery?: number },
): Promise<BenchPractice[]> {
  const seal = createSeal(parseEncryptionKeys(developmentEncryptionKeys));
  const practices = Array.from({ length: given.count }, (_, n) => ({
    id: randomUUID(),
    alias: `${given.prefix}-${n}`,
    n,
  }));
  const hangs = (n: number): boolean => given.hangsEvery !== undefined && n % given.hangsEvery === 0;
  await withClient(ownerUrl, (client) =>
    client.query(
      `insert into organisations
         (id, alias, display_name, callback_url, callback_networks, sealed_secret, created_at, updated_at)
       select id, alias, alias, url, '{127.0.0.0/8}', sealed, now(), now()
       from unnest($1::uuid[], $2::text[], $3::text[], $4::text[]) as given (id, alias, url, sealed)`,
      [
        practices.map(({ id }) => id),
        practices.map(({ alias }) => alias),
        practices.map(({ n }) => (hangs(n) ? `${given.url}/hangs` : given.url)),
        practices.map(({ id }) => seal.close("a secret of the bench", secretOwner(id))),
      ],
    ),
  );
  return practices;
}
