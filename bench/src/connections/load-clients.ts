import { withClient } from "@ehr-marketplace/test-kit";

/** Registers a client for each installation. Those of an organisation have its alias as their id, with a number: `clinic-7.1`. */
export async function loadClients(ownerUrl: string): Promise<void> {
  await withClient(ownerUrl, async (client) => {
    // A notification per row would fill PostgreSQL's notification queue.
    await client.query("alter table clients disable trigger clients_changed");
    await client.query(
      `insert into clients (id, app_slug, org_alias, method, status, client_id, registered_sha256, version, created_at, updated_at)
       select mint_uuid(), app_slug, org_alias, 'dcr', 'ready',
         org_alias || '.' || row_number() over (partition by org_alias order by app_slug), repeat('0', 64), mint_uuid(), now(), now()
       from installations`,
    );
    await client.query("alter table clients enable trigger clients_changed");
    await client.query("vacuum (analyze) clients");
  });
}
