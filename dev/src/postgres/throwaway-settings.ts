/** Settings of a cluster whose data nobody keeps: without what survives a power cut, and without autovacuum, which would use a tenth of its CPU. */
export const throwawaySettings: Record<string, string> = {
  fsync: "off",
  synchronous_commit: "off",
  full_page_writes: "off",
  autovacuum: "off",
  wal_level: "minimal",
  max_wal_senders: "0",
};
