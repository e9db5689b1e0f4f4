/** The FHIR server of one organisation: the `iss` of SMART App Launch, and the audience of the app's tokens. */
export function fhirBaseUrlOf(template: string, orgAlias: string): string {
  return template.replaceAll("{orgAlias}", () => encodeURIComponent(orgAlias));
}

// A name may be written in more than one way (`i%73s`). The ampersand keeps a question mark what it is: a part of the name.
const nameOf = (parameter: string): string => new URLSearchParams(`&${parameter}`).keys().next().value ?? "";

/** A browser is sent there: `javascript:` would run in the EHR's own page. A check constraint admits only https, and http on loopback addresses. */
export const opensInBrowsers = (url: string): boolean => /^https?:\/\//i.test(url) && URL.canParse(url);

/**
 * The app's launch URL with what SMART App Launch adds. Its own query stays as it is, to the letter: an app may read more
 * into it than its names and values. Only what would be taken for our own parameters goes.
 */
export function launchUrlOf(appUrl: string, parameters: { iss: string; launch?: string }): string {
  const url = new URL(appUrl);
  const query = url.search.slice(1);
  const isTheirs = (parameter: string): boolean => !["iss", "launch"].includes(nameOf(parameter));
  const theirs = query === "" ? [] : query.split("&").filter(isTheirs);
  const ours = Object.entries(parameters).map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
  url.search = `?${[...theirs, ...ours].join("&")}`;
  return url.href;
}
