interface PersonaDetails {
  displayName: string;
  may: string;
  group: "The marketplace" | "Practices" | "Vendors" | "Services";
  claims: {
    organization?: string[] | Record<string, { roles: string[] }>;
    vendor?: string | string[];
    roles?: string[];
  };
}

/**
 * The users and services of the local stack. Identity providers write organizations as a map with roles or as a flat list, and a
 * single value alone or in a list; the personas use all these forms on purpose.
 */
export const personas = {
  operator: {
    displayName: "Mara Lindqvist, operator",
    may: "Runs the marketplace, for all practices and vendors",
    group: "The marketplace",
    claims: { roles: ["operator"] },
  },
  billing: {
    displayName: "Owen Achebe, billing clerk",
    may: "Bills what was used",
    group: "The marketplace",
    claims: { roles: ["billing"] },
  },
  auditor: {
    displayName: "Noor Bakker, auditor",
    may: "Reads audit logs and health, and changes nothing",
    group: "The marketplace",
    claims: { roles: ["auditor"] },
  },
  "riverside-admin": {
    displayName: "Rosa Delgado, admin of Riverside Clinic",
    may: "Decides which apps Riverside Clinic has",
    group: "Practices",
    claims: { organization: { "riverside-clinic": { roles: ["org-admin"] } } },
  },
  "riverside-member": {
    displayName: "Tom Whitfield, clinician at Riverside Clinic",
    may: "Uses the apps that Riverside Clinic has",
    group: "Practices",
    claims: { organization: { "riverside-clinic": { roles: ["org-member"] } } },
  },
  "hilltop-admin": {
    displayName: "Grace Okafor, admin of Hilltop Family Practice",
    may: "Decides which apps Hilltop Family Practice has",
    group: "Practices",
    claims: { organization: ["hilltop-family-practice"], roles: ["org-admin"] },
  },
  "two-practices": {
    displayName: "Amira Haddad, of two practices",
    may: "Admin of Riverside Clinic, but only a member of Hilltop Family Practice",
    group: "Practices",
    claims: {
      organization: {
        "riverside-clinic": { roles: ["org-admin"] },
        "hilltop-family-practice": { roles: ["org-member"] },
      },
    },
  },
  "northwind-developer": {
    displayName: "Ines Carvalho, developer at Northwind Health",
    may: "Looks after the apps of Northwind Health",
    group: "Vendors",
    claims: { vendor: "northwind-health", roles: ["vendor-developer"] },
  },
  "lumen-developer": {
    displayName: "Pavel Novák, developer at Lumen Medical",
    may: "Looks after the apps of Lumen Medical",
    group: "Vendors",
    claims: { vendor: ["lumen-medical"], roles: ["vendor-developer"] },
  },
  "juniper-developer": {
    displayName: "Mei Tanaka, developer at Juniper Labs",
    may: "Begins with nothing: no operator has registered Juniper Labs yet",
    group: "Vendors",
    claims: { vendor: "juniper-labs", roles: ["vendor-developer"] },
  },
  "juniper-tester": {
    displayName: "Jonas Weber, tester at Juniper Labs",
    may: "Tries the drafts of Juniper Labs in its sandbox",
    group: "Vendors",
    claims: { organization: { "juniper-sandbox": { roles: ["org-admin"] } } },
  },
  "ehr-service": {
    displayName: "The EHR",
    may: "Acts for all practices and sandboxes here",
    group: "Services",
    // Guides register Lakeside Clinic and Northwind's sandbox, and a test registers Juniper's.
    claims: {
      roles: ["ehr-service"],
      organization: [
        "riverside-clinic",
        "hilltop-family-practice",
        "lakeside-clinic",
        "northwind-sandbox",
        "juniper-sandbox",
      ],
    },
  },
  "launch-redeemer": {
    displayName: "The launch redeemer",
    may: "Redeems launches, and nothing else",
    group: "Services",
    claims: { roles: ["launch-redeemer"] },
  },
} satisfies Record<string, PersonaDetails>;

export type Persona = keyof typeof personas;

export const personaNames = Object.keys(personas) as Persona[];

export function isPersona(name: string): name is Persona {
  return Object.hasOwn(personas, name);
}

export function claimsOf(persona: Persona): PersonaDetails["claims"] {
  return personas[persona].claims;
}

export function nameOf(persona: Persona): string {
  return personas[persona].displayName.replace(/,.*/, "");
}
