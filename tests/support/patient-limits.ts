/** For services whose responses with 503 would fail a test: on a busy machine, they would exceed their usual limits. */
export const patientLimits = {
  MAX_EVENT_LOOP_DELAY_MS: "60000",
  STATEMENT_TIMEOUT_MS: "60000",
  REQUEST_TIMEOUT_MS: "120000",
};
