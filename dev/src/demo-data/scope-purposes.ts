import { ownPurposes } from "./own-scope-purposes.ts";

/** Why demo apps need the resources of a type, if the app has no words of its own in `own-scope-purposes.ts`. */
const purposes: Record<string, string> = {
  Account: "To show what has been charged and what is still to pay.",
  AllergyIntolerance: "To leave out drugs that the patient can't take.",
  AuditEvent: "To count how long each kind of work takes, by team.",
  Binary: "To file the scanned pages themselves.",
  CarePlan: "To show the agreed goals and steps, and to keep them up to date.",
  CareTeam: "To know who else looks after the patient.",
  Claim: "To find the claims that a payer would refuse.",
  ClaimResponse: "To explain why a payer refused a claim.",
  Communication: "To send the messages that the practice has approved.",
  Condition: "To choose what applies to the patient's diagnoses.",
  Consent: "To do only what the patient has agreed to.",
  Coverage: "To apply the rules of the patient's insurance.",
  CoverageEligibilityRequest: "To ask the insurance whether the visit is covered.",
  CoverageEligibilityResponse: "To estimate what the patient has to pay.",
  Device: "To label each reading with the device that took it.",
  DeviceRequest: "To order a cuff for the patient's home.",
  DiagnosticReport: "To show the findings beside the values that they explain.",
  DocumentReference: "To add the finished document to the chart.",
  Encounter: "To work with the visit that is going on.",
  ExplanationOfBenefit: "To show what the payer has paid, and what it hasn't.",
  FamilyMemberHistory: "To compare a child's growth with that of the parents.",
  Group: "To build registries of the groups that the practice has defined.",
  HealthcareService: "To offer the services to which a patient can be referred.",
  ImagingStudy: "To open images beside earlier ones.",
  Immunization: "To know which vaccinations have been given.",
  ImmunizationRecommendation: "To record which vaccination is due, and when.",
  Invoice: "To list each charge in words that patients understand.",
  Location: "To say in which room or at which site something happens.",
  Media: "To place pictures where they belong in the record.",
  MedicationRequest: "To take current prescriptions into account.",
  MedicationStatement: "To take into account what the patient really takes.",
  Observation: "To use recent measurements instead of asking for them.",
  Organization: "To address referrals to the right practice.",
  Patient: "To show whose record it is, so that nothing is filed under another name.",
  Practitioner: "To show the names of clinicians as the practice has them.",
  PractitionerRole: "To know who works in which role and team.",
  Procedure: "To record what has been done, and to see what was done before.",
  QuestionnaireResponse: "To keep the patient's own words with the record.",
  RelatedPerson: "To know who may speak for the patient.",
  Schedule: "To follow the hours in which each clinician works.",
  ServiceRequest: "To see what has been ordered, and what is still open.",
  Slot: "To offer only times that are really free.",
  Specimen: "To put the right label on the right tube.",
  Task: "To hand work to the right person, and to see that it is done.",
  VisionPrescription: "To print the prescription for glasses at the end of the visit.",
};

/** Why a demo app needs each of its scopes for resources. */
export function scopePurposesOf(slug: string, fhirScopes: string): Record<string, string> {
  return Object.fromEntries(
    fhirScopes.split(" ").flatMap((scope) => {
      const [, type] = /^(?:patient|user|system)\/([A-Za-z]+)\./.exec(scope) ?? [];
      if (type === undefined) return [];
      const purpose = ownPurposes[slug]?.[type] ?? purposes[type];
      if (purpose === undefined)
        throw new Error(`say in scope-purposes.ts what ${type} is for: ${slug} has the scope ${scope}`);
      return [[scope, purpose]];
    }),
  );
}
