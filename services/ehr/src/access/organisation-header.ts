/** For the API reference: whom `actingOrganisation` asks. */
export const organisationHeader = {
  type: "object",
  properties: {
    "x-org-alias": {
      type: "string",
      maxLength: 64,
      description: "For callers in several organisations: the one they act for",
    },
  },
} as const;
