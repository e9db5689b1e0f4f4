-- The scopes that an organisation has agreed to. A revision of an app that adds scopes doesn't change them: an admin has to agree.

alter table subscriptions add column fhir_scopes text;
comment on column subscriptions.fhir_scopes is
  'The scopes that were agreed to. In force are those of them that the app still has';

-- Existing subscriptions were made to the app as it is. Nothing else of them changes, so updated_at may stay.
alter table subscriptions disable trigger subscriptions_reject_invalid_changes;
update subscriptions set fhir_scopes = apps.fhir_scopes from apps where apps.id = subscriptions.app_id;
alter table subscriptions enable trigger subscriptions_reject_invalid_changes;

-- For processes of the previous version, until they are replaced.
create function subscriptions_set_scopes() returns trigger language plpgsql as $$
begin
  select apps.fhir_scopes into new.fhir_scopes from apps where apps.id = new.app_id;
  return new;
end
$$;
create trigger subscriptions_set_scopes before insert on subscriptions
  for each row when (new.fhir_scopes is null) execute function subscriptions_set_scopes();
alter table subscriptions alter column fhir_scopes set not null;

-- Who agreed to which scopes, and when. `revision` is the one that the agreement gave the subscription, 1 if it was made by subscribing.
create table scope_agreements (
  subscription_id uuid references subscriptions,
  revision integer check (revision >= 1),
  fhir_scopes text not null,
  issuer text not null,
  subject text not null,
  agreed_at timestamptz(3) not null,
  primary key (subscription_id, revision),
  -- An agreement without an event would change what an app may read, and nobody would hear of it. The event is inserted after it.
  constraint scope_agreements_have_events foreign key (subscription_id, revision)
    references events (subscription_id, sequence) deferrable initially deferred
);
grant select, insert on scope_agreements to marketplace_service;

create function scope_agreements_reject_changes() returns trigger language plpgsql as $$
begin
  raise exception 'an agreement is never changed or deleted' using errcode = 'restrict_violation';
end
$$;
create trigger scope_agreements_reject_changes before update or delete or truncate on scope_agreements
  for each statement execute function scope_agreements_reject_changes();

grant update (fhir_scopes) on subscriptions to marketplace_service;

-- The revision grows with every event: with every change that EHR and vendor are told of, no longer only with the status.
create or replace function subscriptions_reject_invalid_changes() returns trigger language plpgsql as $$
begin
  if old.status = 'cancelled' and (
    new.status <> 'cancelled' or new.cancelled_at <> old.cancelled_at or new.revision <> old.revision
    or (new.block_reason is not null and new.block_reason is distinct from old.block_reason)
  ) then
    raise exception 'a cancelled subscription stays cancelled' using errcode = 'restrict_violation';
  end if;
  if old.status = 'paused' and new.status = 'paused' and new.pause_reason <> old.pause_reason then
    raise exception 'the pause reason of a paused subscription can''t change' using errcode = 'restrict_violation';
  end if;
  if new.revision <> old.revision + (
    (new.status, new.fhir_scopes, new.pricing_plan_id, new.quantity)
    is distinct from (old.status, old.fhir_scopes, old.pricing_plan_id, old.quantity)
  )::integer then
    raise exception 'revision must increase by one when status, agreed scopes, plan or quantity change, and only then'
      using errcode = 'restrict_violation';
  end if;
  if new.fhir_scopes <> old.fhir_scopes and not exists (
    select from scope_agreements agreement
    where agreement.subscription_id = new.id
      and agreement.revision = new.revision
      and agreement.fhir_scopes = new.fhir_scopes
  ) then
    raise exception 'nobody has agreed to these scopes' using errcode = 'restrict_violation';
  end if;
  if new.updated_at <= old.updated_at then
    raise exception 'updated_at must increase: % is not after %', new.updated_at, old.updated_at using errcode = 'restrict_violation';
  end if;
  return new;
end
$$;
