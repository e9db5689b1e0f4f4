import { type Static, Type } from "typebox";
import { noNulPattern, slugPattern } from "./catalog-requests.ts";

/**
 * A draft is installed as an app of its own, whose slug is this prefix and the listing's slug, shortened if it has more than 56 characters.
 * No listing's slug begins with it.
 */
export const sandboxSlugPrefix = "sandbox-";
export const isSandboxSlug = (slug: string): boolean => slug.startsWith(sandboxSlugPrefix);

const orgAlias = Type.String({
  pattern: noNulPattern,
  maxLength: 64,
  description: "A sandbox organisation of the vendor",
  examples: ["northwind-sandbox"],
});

export const installDraftBody = Type.Object({ orgAlias }, { additionalProperties: false });
export type InstallDraftBody = Static<typeof installDraftBody>;

export const endInstallationParams = Type.Object({
  slug: Type.String({ pattern: slugPattern, maxLength: 64 }),
  orgAlias,
});

export const sandboxAppParams = Type.Object({
  slug: Type.String({
    pattern: slugPattern,
    maxLength: 64,
    description:
      "The slug of a sandbox app: `sandbox-` and the listing's slug, which is shortened if it has more than 56 characters",
    examples: ["sandbox-northwind-scribe"],
  }),
});
