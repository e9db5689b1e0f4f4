import { createSlots, Problem, type ProblemKind } from "@ehr-marketplace/service-kit/http";

const organisationProblems = {
  busy: {
    code: "organisation-busy",
    status: 429,
    title: "Too many changes of one organisation at once",
    advice:
      "Send fewer requests for the organisation at the same time. Try again after as many seconds as `Retry-After` says.",
  },
} satisfies Record<string, ProblemKind>;

/**
 * Changes of one organisation queue on the lock of its row, and each holds a connection meanwhile. They wait here instead, so that one
 * organisation can't take the whole pool from all others.
 */
export interface OrganisationSlots {
  /** Throws 429 where too many wait already. */
  run<T>(orgAlias: string, work: () => Promise<T>): Promise<T>;
  /** How many organisations have work under way. */
  size(): number;
}

/** One that works, and one that takes the lock at once when it ends. */
const maxRunning = 2;
/**
 * The marketplace counts a 429 as a failure like any other, so its own traffic must not reach this: each of its workers has 8 requests
 * under way to one organisation, unless it is configured otherwise.
 */
const maxWaiting = 50;

export function createOrganisationSlots(): OrganisationSlots {
  const byAlias = new Map<string, { slots: ReturnType<typeof createSlots>; pending: number }>();
  return {
    async run(orgAlias, work) {
      const entry = byAlias.get(orgAlias) ?? { slots: createSlots(maxRunning, maxWaiting), pending: 0 };
      if (entry.slots.isFull()) throw busy();
      byAlias.set(orgAlias, entry);
      entry.pending += 1;
      try {
        return await entry.slots.run(work);
      } finally {
        entry.pending -= 1;
        if (entry.pending === 0) byAlias.delete(orgAlias);
      }
    },
    size: () => byAlias.size,
  };
}

const busy = (): Problem =>
  new Problem(
    organisationProblems.busy,
    `${maxRunning + maxWaiting} changes of the organisation are under way already. Nothing was changed; try again in a moment.`,
    { headers: { "retry-after": "1" } },
  );
