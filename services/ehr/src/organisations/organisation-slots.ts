import { createKeyedTaskLimiter, Problem, type ProblemKind } from "@ehr-marketplace/service-kit/http";

const organisationProblems = {
  busy: {
    code: "organisation-busy",
    status: 429,
    title: "Too many concurrent changes of one organisation",
    advice: "Send fewer concurrent requests for the organisation. Retry after the number of seconds in `Retry-After`.",
  },
} satisfies Record<string, ProblemKind>;

/**
 * Limits concurrent changes of one organisation. Changes wait for the lock of the organisation's row, and each takes a connection while it
 * waits. They wait here instead, so that one organisation can't use up the connection pool.
 */
export interface OrganisationSlots {
  /** Throws 429 if too many changes are waiting. */
  run<T>(orgAlias: string, work: () => Promise<T>): Promise<T>;
  /** The number of organisations with running or waiting changes. */
  size(): number;
}

/** One holds the lock; the other waits in the database to take it without delay. */
const maxRunning = 2;
/**
 * The marketplace counts a 429 as a failure, so its own traffic must not reach this limit: by default each of its workers sends 8
 * concurrent requests to one organisation.
 */
const maxWaiting = 50;

export const createOrganisationSlots = (): OrganisationSlots =>
  createKeyedTaskLimiter({ maxRunning, maxWaiting, createProblem: busy });

const busy = (): Problem =>
  new Problem(
    organisationProblems.busy,
    `${maxRunning + maxWaiting} changes of the organisation are already in progress. Nothing was changed; retry later.`,
    { headers: { "retry-after": "1" } },
  );
