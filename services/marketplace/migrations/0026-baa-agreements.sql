-- Who accepted which business associate agreement, when they subscribed to an app that requires it.

grant select (baa_required, baa_document_sha256) on apps to marketplace_service;

create table baa_agreements (
  subscription_id uuid primary key references subscriptions,
  document_sha256 text not null check (document_sha256 ~ '^[0-9a-f]{64}$'),
  issuer text not null,
  subject text not null,
  agreed_at timestamptz(3) not null
);
grant select, insert on baa_agreements to marketplace_service;

create function baa_agreements_reject_changes() returns trigger language plpgsql as $$
begin
  raise exception 'an agreement is never changed or deleted' using errcode = 'restrict_violation';
end
$$;
create trigger baa_agreements_reject_changes before update or delete or truncate on baa_agreements
  for each statement execute function baa_agreements_reject_changes();
