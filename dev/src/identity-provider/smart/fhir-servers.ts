const orgAlias = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** Each organisation has a FHIR server of its own, as far as apps can tell; `{orgAlias}` may stand for all of them. */
export function fhirBaseUrl(issuer: string, alias: string): string {
  return `${issuer}/fhir/${alias}`;
}

export function orgAliasOf(issuer: string, fhirUrl: string): string | undefined {
  const start = fhirBaseUrl(issuer, "");
  const alias = fhirUrl.startsWith(start) ? fhirUrl.slice(start.length) : "";
  return orgAlias.test(alias) ? alias : undefined;
}
