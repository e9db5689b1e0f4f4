import { secretOwner } from "@ehr-marketplace/marketplace/organisation";
import { createEncryption, parseEncryptionKeys } from "@ehr-marketplace/service-kit/secrets";
import { withClient } from "@ehr-marketplace/test-kit";
import { v7 as uuid } from "uuid";
import { developmentEncryptionKeys, loopbackNetworks } from "../service-environments.ts";

export interface Practice {
  alias: string;
  id: string;
  secret: string;
}

/** Inserts practices with their callback URLs into the database. */
export async function registerPractices(
  ownerUrl: string,
  practices: { count: number; callbackUrl: string | null | ((index: number) => string); prefix?: string },
): Promise<Practice[]> {
  const { callbackUrl } = practices;
  const encryption = createEncryption(parseEncryptionKeys(developmentEncryptionKeys));
  const made = Array.from({ length: practices.count }, (_, index): Practice => {
    const id = uuid();
    return { id, alias: `${practices.prefix ?? "practice"}-${index + 1}`, secret: `secret of practice ${index + 1}` };
  });
  await withClient(ownerUrl, (client) =>
    client.query(
      `insert into organisations
         (id, alias, display_name, callback_url, callback_networks, encrypted_secret, created_at, updated_at)
       select id, alias, alias, url, $5::cidr[], encrypted_secret, now(), now()
       from unnest($1::uuid[], $2::text[], $3::text[], $4::text[]) as given (id, alias, encrypted_secret, url)`,
      [
        made.map(({ id }) => id),
        made.map(({ alias }) => alias),
        made.map(({ id, secret }) => encryption.encrypt(secret, secretOwner(id))),
        made.map((_, index) => (typeof callbackUrl === "function" ? callbackUrl(index) : callbackUrl)),
        loopbackNetworks,
      ],
    ),
  );
  return made;
}
