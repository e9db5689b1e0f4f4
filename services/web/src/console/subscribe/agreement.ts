import type { AppDto } from "@ehr-marketplace/client/marketplace";

/** What was agreed to, not that it was: if the vendor changes it meanwhile, it has to be agreed to anew. */
export interface Agreement {
  scopes?: string | undefined;
  baa?: string | undefined;
}

type OfferedApp = Pick<AppDto, "fhirScopes" | "baaRequired" | "baaSha256" | "baaUrl">;

/** The version of the business associate agreement that is shown. */
export const baaOf = ({ baaSha256, baaUrl }: Pick<OfferedApp, "baaSha256" | "baaUrl">): string =>
  baaSha256 ?? baaUrl ?? "";

/** Which of the agreements count for what the app asks for now. */
export function checkAgreement({ scopes, baa }: Agreement, app: OfferedApp) {
  const isAgreed = scopes === app.fhirScopes;
  const isBaaAccepted = baa === baaOf(app);
  return { isAgreed, isBaaAccepted, isComplete: isAgreed && (isBaaAccepted || !app.baaRequired) };
}
