-- An address gets nothing but its confirmation until it is confirmed.

-- The address that was confirmed. Mails go to `email` only while both are the same: processes of the previous version change only that.
alter table notice_settings add column confirmed_email text
  check (length(confirmed_email) <= 254 and confirmed_email !~ '[[:cntrl:][:space:]]');
grant update (confirmed_email) on notice_settings to marketplace_service;

alter table notice_mails
  -- The address that the mail asks to confirm; null for mails about notices
  add column confirms text check (length(confirms) <= 254 and confirms !~ '[[:cntrl:][:space:]]'),
  -- Whose it is: the address in lower case, without what follows a plus sign. A mailbox gets few of these mails a day.
  add column mailbox text collate "C",
  add constraint notice_mails_confirmation_has_mailbox check ((confirms is null) = (mailbox is null)) not valid,
  add constraint notice_mails_confirmation_is_no_digest check (confirms is null or digest_at is null) not valid;
create index notice_mails_of_mailbox on notice_mails (mailbox) where mailbox is not null;

-- Asks for the confirmation of existing addresses: four a second, three a day for each mailbox, for a week. Not at once, because workers of the
-- previous version would drop these mails.
insert into notice_mails (id, audience, confirms, mailbox, created_at, due_at, expires_at)
select mint_uuid(), audience, email, mailbox, now(), due_at, due_at + interval '3 days'
from (
  select audience, email, mailbox, nth_of_mailbox, now() + interval '10 minutes' + nth * interval '250 milliseconds'
    + (nth_of_mailbox - 1) / 3 * interval '25 hours' as due_at
  from (
    select audience, email, mailbox, row_number() over (order by audience) as nth,
      row_number() over (partition by mailbox order by audience) as nth_of_mailbox
    from (
      select audience, email, lower(regexp_replace(email, '^([^@+]+)[+][^@]*@', '\1@')) collate "C" as mailbox
      from notice_settings where email is not null
    ) addresses
  ) counted
) planned
where nth_of_mailbox <= 21;
