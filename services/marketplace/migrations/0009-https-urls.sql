-- URLs of apps and vendors are shown and opened in browsers: https, and http on a loopback address for the local stack only.

create function is_web_url(url text) returns boolean language sql immutable parallel safe return
  length(url) <= 2048
  and url ~ '^(https://[^\s/]\S*|http://(localhost|127([.]\d{1,3}){3}|\[::1\])(:\d{1,5})?(/\S*)?)$';

create function are_web_urls(urls text[]) returns boolean language sql immutable parallel safe return
  not exists (select from unnest(urls) as each (url) where is_web_url(each.url) is not true);

-- A constraint that fails names no row: the operator needs to know which ones to correct.
do $$
declare
  wrong text;
begin
  select string_agg(slug, ', ') into wrong from (
    select slug from apps
    where not (is_web_url(icon_url) and are_web_urls(screenshots)
      and coalesce(is_web_url(smart_launch_url), true) and coalesce(is_web_url(website_url), true)
      and coalesce(is_web_url(support_url), true) and coalesce(is_web_url(privacy_policy_url), true)
      and coalesce(is_web_url(terms_url), true))
    union
    select slug from vendors where not coalesce(is_web_url(website_url), true)
    order by slug limit 20
  ) named;
  if wrong is not null then
    raise exception 'apps or vendors have URLs that are not https: %', wrong
      using hint = 'Correct them, then run the migration step again.', errcode = 'check_violation';
  end if;
end
$$;

alter table apps
  add constraint icon_url_is_https check (is_web_url(icon_url)),
  add constraint smart_launch_url_is_https check (is_web_url(smart_launch_url)),
  add constraint screenshots_are_https check (are_web_urls(screenshots)),
  add constraint website_url_is_https check (is_web_url(website_url)),
  add constraint support_url_is_https check (is_web_url(support_url)),
  add constraint privacy_policy_url_is_https check (is_web_url(privacy_policy_url)),
  add constraint terms_url_is_https check (is_web_url(terms_url));
alter table vendors add constraint website_url_is_https check (is_web_url(website_url));
