export type Severity = "error" | "warning";

/**
 * What a listing is checked for. The codes are stable, and the public criteria of a review: a rejection names one of them, or says why
 * none fits.
 */
export const criteria = {
  "listing-too-large": { severity: "error", title: "What becomes public is too large" },
  "text-missing": { severity: "error", title: "A required text is missing" },
  "text-renders-to-nothing": { severity: "error", title: "The Markdown shows nothing" },
  "control-character": { severity: "error", title: "A text of one line has a control character" },
  "invisible-character": { severity: "error", title: "A name has a character that can't be seen" },
  "html-in-markdown": { severity: "warning", title: "HTML in Markdown is shown as text" },
  "image-in-markdown": { severity: "warning", title: "Pictures in Markdown aren't shown" },
  "link-unusable": { severity: "warning", title: "A link in Markdown can't be used, and is shown as text" },
  "reference-in-markdown": { severity: "warning", title: "Reference links in Markdown are shown as text" },
  "markdown-too-complex": {
    severity: "warning",
    title: "Too many table cells, lists or quotes: a part is shown as text",
  },
  "link-missing": { severity: "error", title: "A required link is missing" },
  "url-invalid": { severity: "error", title: "The URL can't be used" },
  "category-unknown": { severity: "error", title: "There is no such category" },
  "audience-missing": { severity: "error", title: "Nobody is named as the app's audience" },
  "extension-point-unknown": { severity: "error", title: "There is no such extension point" },
  "extension-point-twice": { severity: "error", title: "An extension point is named twice" },
  "cds-services-url-missing": { severity: "error", title: "CDS Hooks need the URL of the services" },
  "cds-not-discovered": { severity: "warning", title: "The CDS Hooks services haven't been read" },
  "cds-discovery-failed": { severity: "warning", title: "The CDS Hooks services couldn't be read" },
  "cds-hook-missing": { severity: "warning", title: "No CDS Hooks service is for this hook" },
  "cds-hook-unlisted": { severity: "warning", title: "A CDS Hooks service is for a hook that isn't named" },
  "smart-launch-url-missing": { severity: "error", title: "Scopes need a SMART launch URL" },
  "scope-invalid": { severity: "error", title: "The scope is neither of SMART version 1 nor of version 2" },
  "scope-list-invalid": {
    severity: "error",
    title: "The scopes aren't separated by single spaces, or use other characters",
  },
  "scope-syntax-mixed": { severity: "error", title: "Scopes of SMART versions 1 and 2 are mixed" },
  "scope-twice": { severity: "warning", title: "The same is asked for by two scopes" },
  "scope-broad": { severity: "warning", title: "The scope asks for more than most apps need" },
  "scope-purpose-missing": { severity: "error", title: "A scope has no purpose" },
  "scope-purpose-unused": { severity: "warning", title: "A purpose is for a scope that isn't asked for" },
  "oauth-missing": { severity: "warning", title: "Nothing says how the app authenticates" },
  "oauth-incomplete": { severity: "error", title: "The client's registration is incomplete" },
  "redirect-uri-invalid": { severity: "error", title: "A redirect URI has a wildcard or a fragment" },
  "redirect-uri-elsewhere": { severity: "warning", title: "A redirect URI is on another host than the app" },
  "oauth-host-not-public": { severity: "error", title: "A redirect URI or the keys are on a host that isn't public" },
  "grant-type-unknown": { severity: "error", title: "There is no such grant type for apps" },
  "client-metadata-too-large": { severity: "error", title: "The client's metadata is larger than 5 KiB" },
  "plan-missing": { severity: "error", title: "There is no pricing plan" },
  "plan-incomplete": { severity: "error", title: "A field that the pricing model needs is missing" },
  "plan-inconsistent": { severity: "error", title: "A field doesn't fit the pricing model" },
  "plan-name-twice": { severity: "error", title: "Two plans have the same name" },
  "plan-currency-unknown": { severity: "error", title: "There is no such currency" },
  "plan-currency-unlimited": { severity: "error", title: "Usage in this currency has no default spend limit" },
  "plan-tiers-invalid": { severity: "error", title: "The tiers can't be computed" },
  "plan-unknown": { severity: "error", title: "The app has no plan with this id" },
  "plan-id-twice": { severity: "error", title: "Two plans have the same id" },
  "plan-changed": { severity: "error", title: "A plan that was on sale differs from what was on sale" },
  "config-schema-invalid": { severity: "error", title: "The config schema is outside the profile" },
  "icon-missing": { severity: "error", title: "There is no icon" },
  "screenshot-missing": { severity: "error", title: "There is no screenshot" },
  "screenshot-too-small": { severity: "warning", title: "A screenshot is too small to be read" },
  "media-unknown": { severity: "error", title: "No such file was uploaded" },
  "media-unsuitable": { severity: "error", title: "The file can't be used here" },
  "alternative-text-missing": { severity: "error", title: "A screenshot has no alternative text" },
  "baa-missing": { severity: "warning", title: "There is no business associate agreement" },
  "certification-incomplete": { severity: "error", title: "A certification lacks a field" },
  "certification-expired": { severity: "warning", title: "A certification has expired" },
  "date-invalid": { severity: "error", title: "There is no such day, or it is too long ago" },
  "model-card-missing": { severity: "warning", title: "Nothing describes the AI model" },
  "not-launched-in-sandbox": { severity: "warning", title: "Nobody has launched the app in a sandbox" },
} as const satisfies Record<string, { severity: Severity; title: string }>;

export type CriterionCode = keyof typeof criteria;

export interface ListingProblem {
  /** JSON Pointer into the draft. */
  pointer: string;
  code: CriterionCode;
  /** What is wrong, and what to do. */
  detail: string;
  severity: Severity;
}

export type Report = (pointer: string, code: CriterionCode, detail: string) => void;
