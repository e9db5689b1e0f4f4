/** The FHIR server of one organisation: the `iss` of SMART App Launch, and the audience of the app's tokens. */
export function fhirBaseUrlOf(template: string, orgAlias: string): string {
  return template.replaceAll("{orgAlias}", () => encodeURIComponent(orgAlias));
}

// A name can be percent-encoded (`i%73s`). The leading ampersand keeps a question mark as part of the name.
const nameOf = (parameter: string): string => new URLSearchParams(`&${parameter}`).keys().next().value ?? "";

/** The EHR opens this URL in a browser, where `javascript:` would run in its own page. A check constraint accepts only https, and http on loopback addresses. */
export const isBrowserUrl = (url: string): boolean => /^https?:\/\//i.test(url) && URL.canParse(url);

/**
 * The app's launch URL with the parameters of SMART App Launch. The app's own query stays unchanged byte for byte, since an app may depend on
 * its exact form. Only its parameters named `iss` and `launch` are removed.
 */
export function launchUrlOf(appUrl: string, parameters: { iss: string; launch?: string }): string {
  const url = new URL(appUrl);
  const query = url.search.slice(1);
  const isAppParameter = (parameter: string): boolean => !["iss", "launch"].includes(nameOf(parameter));
  const appParameters = query === "" ? [] : query.split("&").filter(isAppParameter);
  const smartParameters = Object.entries(parameters).map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
  url.search = `?${[...appParameters, ...smartParameters].join("&")}`;
  return url.href;
}
