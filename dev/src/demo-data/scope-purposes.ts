/** What the resources of a type are called in the purpose of a scope. */
const resources: Record<string, string> = {
  Account: "accounts",
  AllergyIntolerance: "allergies",
  Appointment: "appointments",
  AuditEvent: "records of access",
  Binary: "files of documents",
  CarePlan: "care plans",
  CareTeam: "care teams",
  Claim: "claims",
  ClaimResponse: "responses of payers to claims",
  Communication: "messages to patients",
  Condition: "diagnoses",
  Consent: "consents",
  Coverage: "insurance coverage",
  CoverageEligibilityRequest: "requests for eligibility",
  CoverageEligibilityResponse: "responses about eligibility",
  Device: "devices",
  DeviceRequest: "requests for devices",
  DiagnosticReport: "diagnostic reports",
  DocumentReference: "documents",
  Encounter: "visits",
  ExplanationOfBenefit: "explanations of benefits",
  FamilyMemberHistory: "family history",
  Group: "groups of patients",
  HealthcareService: "services of other practices",
  ImagingStudy: "imaging studies",
  Immunization: "vaccinations",
  ImmunizationRecommendation: "recommended vaccinations",
  Invoice: "invoices",
  Location: "rooms and sites",
  Media: "pictures",
  MedicationRequest: "prescriptions",
  MedicationStatement: "medication that patients report",
  Observation: "measurements and results",
  Organization: "other organisations",
  Patient: "names, dates of birth and contact details",
  Practitioner: "clinicians",
  PractitionerRole: "roles of clinicians",
  Procedure: "procedures",
  QuestionnaireResponse: "completed questionnaires",
  RelatedPerson: "relatives and carers",
  Schedule: "calendars",
  ServiceRequest: "orders and referrals",
  Slot: "free slots",
  Specimen: "specimens",
  Task: "tasks",
  VisionPrescription: "prescriptions for glasses",
};

const subjects: Record<string, string> = {
  patient: "of the patient whose chart is open",
  user: "that the signed-in user may see",
  system: "of the practice, in the background",
};

const resourceScope = /^(patient|user|system)\/([A-Za-z]+)\.(c?r?u?d?s?)(\?.*)?$/;

/** What the app does by a scope of the version 2 syntax, such as "Reads and creates documents of …". */
function describeScope(scope: string, [, context = "", type = "", permissions = "", query]: string[]): string {
  const noun = resources[type];
  if (noun === undefined)
    throw new Error(`say in scope-purposes.ts what ${type} is: the demo data has the scope ${scope}`);
  const verbs = [
    /[rs]/.test(permissions) ? "reads" : "",
    permissions.includes("c") ? "creates" : "",
    permissions.includes("u") ? "updates" : "",
    permissions.includes("d") ? "deletes" : "",
  ].filter((verb) => verb !== "");
  const listed = new Intl.ListFormat("en-GB").format(verbs);
  const part = query === undefined ? "" : ", only those from laboratories";
  return `${listed.charAt(0).toUpperCase()}${listed.slice(1)} ${noun} ${subjects[context]}${part}.`;
}

/** Why a demo app needs each of its scopes for resources. */
export function scopePurposesOf(fhirScopes: string): Record<string, string> {
  return Object.fromEntries(
    fhirScopes.split(" ").flatMap((scope) => {
      const match = resourceScope.exec(scope);
      return match === null ? [] : [[scope, describeScope(scope, match)]];
    }),
  );
}
