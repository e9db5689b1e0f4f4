export interface DemoOrganisation {
  alias: string;
  displayName: string;
  /** Signs deliveries to its EHR. It is fixed, so that the EHR of the local stack has the same secret. */
  secret: string;
}

const developmentSecret = (alias: string): string =>
  `whsec_${Buffer.from(`for development: ${alias}`).toString("base64")}`;

export const demoOrganisations: DemoOrganisation[] = [
  { alias: "riverside-clinic", displayName: "Riverside Clinic" },
  { alias: "hilltop-family-practice", displayName: "Hilltop Family Practice" },
].map((organisation) => ({ ...organisation, secret: developmentSecret(organisation.alias) }));
