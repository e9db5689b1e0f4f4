import { intersectScopes } from "@ehr-marketplace/listing-rules/scopes";

export interface ScopeColumns {
  /** The app's, as its marketplace published them. */
  fhir_scopes: string;
  /** Agreed to by the organisation; null if it isn't known. */
  agreed_scopes: string | null;
}

/** Comparing the longest lists of scopes takes tens of milliseconds. */
export const areScopesCompared = ({ fhir_scopes, agreed_scopes }: ScopeColumns): boolean =>
  agreed_scopes !== null && agreed_scopes !== fhir_scopes;

/** The app's scopes that the organisation has agreed to: an event can't give an app a scope that the marketplace's catalog doesn't. */
export const scopesInForce = (row: ScopeColumns): string =>
  areScopesCompared(row) ? intersectScopes(row.fhir_scopes, row.agreed_scopes ?? "") : row.fhir_scopes;
