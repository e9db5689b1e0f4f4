/** For the API reference: whom `actingOrganisation` asks. */
export const organisationHeader = {
  type: "object",
  properties: {
    "x-org-alias": { type: "string", description: "For callers in several organisations: the one they act for" },
  },
} as const;
