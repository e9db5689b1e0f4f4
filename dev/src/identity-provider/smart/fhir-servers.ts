const orgAlias = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** Returns the FHIR base URL of an organisation. The alias can be the placeholder `{orgAlias}`. */
export function fhirBaseUrl(issuer: string, alias: string): string {
  return `${issuer}/fhir/${alias}`;
}

export function orgAliasOf(issuer: string, fhirUrl: string): string | undefined {
  const start = fhirBaseUrl(issuer, "");
  const alias = fhirUrl.startsWith(start) ? fhirUrl.slice(start.length) : "";
  return orgAlias.test(alias) ? alias : undefined;
}
