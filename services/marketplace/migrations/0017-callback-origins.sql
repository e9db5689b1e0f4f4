-- Practices whose EHRs share a host fail and recover together: recipients/origin.ts decides, by the origin of their callbacks.

alter table organisations add column callback_origin text collate "C"
  generated always as (
    -- Without the default port
    regexp_replace(lower(substring(callback_url from '^https?://[^/?#]+')), '^(https://.*):443$|^(http://.*):80$', '\1\2')
  ) stored;
create index organisations_of_origin on organisations (callback_origin, id) where callback_origin is not null;

-- A row is inserted at the first failure. An origin without a row is active.
create table callback_origins (
  -- Also the id of its recovery job
  id uuid primary key default mint_uuid(),
  origin text collate "C" not null unique,
  -- held: nothing is sent to the EHRs of this origin, except one probe at a time
  status text not null default 'active' check (status in ('active', 'held')),
  consecutive_failures integer not null default 0 check (consecutive_failures >= 0),
  -- The recipient whose failure was counted last
  failed_recipient_id uuid,
  held_since timestamptz(3),
  -- Failed probes since it is held, and the delivery that was the last probe
  probes integer not null default 0 check (probes >= 0),
  probed_id uuid,
  constraint callback_origins_held_since_required check ((status = 'held') = (held_since is not null))
);
create index callback_origins_held on callback_origins (held_since) where status = 'held';
grant select, insert on callback_origins to marketplace_service;
grant update (status, consecutive_failures, failed_recipient_id, held_since, probes, probed_id) on callback_origins
  to marketplace_service;

-- What decides whether a delivery can be sent now: the recipient and, for an EHR, the origin of its callback.
create view recipient_states with (security_invoker = true) as
  select r.id, r.kind, r.status, r.crowded, o.callback_url is not null as has_callback, o.callback_origin,
    c.id as origin_id, c.probed_id as origin_probed_id, coalesce(c.status = 'held', false) as origin_held
  from recipients r
  left join organisations o on o.id = r.id
  left join callback_origins c on c.origin = o.callback_origin;
grant select on recipient_states to marketplace_service;
