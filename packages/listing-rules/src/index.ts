export { type CdsDiscovery, isHookName, namesHooks } from "./check-cds-hooks.ts";
export { type CheckContext, checkDraft, type DraftCheck } from "./check-draft.ts";
export type { KnownPlan } from "./check-known-plans.ts";
export type { FindMedia, KnownMedia } from "./check-media.ts";
export {
  buildClientMetadata,
  type ClientDraft,
  type ClientSource,
  measureClientMetadata,
} from "./client-metadata.ts";
export {
  type Comparison,
  compareDrafts,
  type Difference,
  type DifferenceMark,
  differenceMarks,
} from "./compare-drafts.ts";
export { type CriterionCode, criteria, type ListingProblem, type Severity } from "./criteria.ts";
export {
  findAddedScopes,
  intersectScopes,
  missingScopes,
  normaliseScopes,
  parseScope,
  type ResourceScope,
  splitScopes,
} from "./scopes.ts";
