-- Planning the refresh of an app took as long as the refresh, and an approval refreshes five times. One plan per session is
-- right for one app as for all: it looks up each app by its indexes, also if it was made while the tables were empty.

alter function refresh_listings(uuid[])
  set plan_cache_mode = 'force_generic_plan'
  set enable_seqscan = 'off';
