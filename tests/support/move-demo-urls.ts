import { withClient } from "@ehr-marketplace/test-kit";
import { demoUrls } from "./demo-settings.ts";

/** Replaces the beginnings of URLs wherever a table has them, past triggers and checks, as if the demo apps had been published so. */
const replaceUrls = `
  do $$ declare place record; begin
    set local session_replication_role = replica;
    for place in
      select relname, attname, format_type(atttypid, atttypmod) as type from pg_attribute join pg_class on pg_class.oid = attrelid
      where relnamespace = 'public'::regnamespace and relkind = 'r' and attnum > 0 and not attisdropped and attgenerated = ''
        and atttypid in ('text'::regtype, 'json'::regtype, 'jsonb'::regtype, 'text[]'::regtype)
    loop
      execute format('update %1$I set %2$I = replace(%2$I::text, %4$L, %5$L)::%3$s where %2$I::text like %6$L',
        place.relname, place.attname, place.type, :from, :to, '%' || :from || '%');
    end loop;
  end $$`;

/** Makes the demo apps of a template those of a stack with other ports. */
export async function moveDemoUrls(ownerUrl: string, urls: typeof demoUrls): Promise<void> {
  await withClient(ownerUrl, async (client) => {
    for (const name of ["publicUrl", "demoAppUrl", "ehrUrl"] as const) {
      const literals = { ":from": client.escapeLiteral(demoUrls[name]), ":to": client.escapeLiteral(urls[name]) };
      await client.query(replaceUrls.replaceAll(/:(?:from|to)\b/g, (part) => literals[part as keyof typeof literals]));
    }
  });
}
