/** Why single demo apps need the resources of a type, where other apps need them for something else. */
export const ownPurposes: Record<string, Record<string, string>> = {
  "lumen-schedule": {
    Appointment: "To book, move and cancel visits as patients choose.",
    Patient: "To find the record of the person who books.",
  },
  "cafe-intake": {
    AllergyIntolerance: "To let the patient correct the known allergies instead of typing all of them.",
    Consent: "To file the consents that the patient signs in the form.",
    Coverage: "To show the insurance on record, for the patient to confirm.",
    Patient: "To fill in what is known, and to save the corrected contact details.",
  },
  "waitlist-wren": {
    Appointment: "To notice a cancelled visit, and to give its time to the first who accepts.",
    Communication: "To offer the free time by text message.",
    Patient: "To know the telephone number to which the offer is sent.",
  },
  "threshold-kiosk": {
    Appointment: "To find today's visit, and to mark the patient as arrived.",
    Consent: "To file what the patient signs at check-in.",
    Patient: "To confirm who is checking in, and to save corrected contact details.",
  },
  "tallowmere-claims": {
    Condition: "To check that the diagnosis supports the service on the claim.",
    Encounter: "To compare the claim with the visit that it is for.",
  },
  "copay-compass": { Appointment: "To have the estimate ready before the patient arrives." },
  "denial-garden": { DocumentReference: "To attach the note that supports an appeal, and to file the letter." },
  "paper-lantern-statements": {
    Communication: "To send the statement in the way that the patient chose.",
    Patient: "To address the statement.",
  },
  "first-light-huddle": { Appointment: "To show how full the day is, without names." },
  "stickleback-labels": { Device: "To find the printer at each desk." },
  "fax-warbler": {
    Binary: "To store the fax itself, and to show it.",
    DocumentReference: "To file a fax in the chart to which it belongs.",
    Patient: "To match the name on a fax with a chart.",
    Task: "To ask a person when a fax matches no chart.",
  },
  cardglide: {
    Coverage: "To enter the number and the plan from the insurance card.",
    DocumentReference: "To keep a picture of the card with the record.",
    Patient: "To compare the card with the record, and to correct the spelling.",
  },
  "inkwell-signpad": { Consent: "To file the consent with its signature." },
  "northwind-scribe": {
    Condition: "To use the diagnoses on record when the note is drafted.",
    DocumentReference: "To save the draft, and the note once the clinician has signed it.",
    Encounter: "To file the note with the visit that was recorded.",
    MedicationRequest: "To spell the patient's medication correctly, with its dose.",
    Observation: "To quote today's measurements in the note.",
  },
  "pocket-phrasebook": {
    Condition: "To fill the patient's diagnoses into a phrase.",
    Observation: "To fill the latest measurements into a phrase.",
  },
  "operative-quill": { Device: "To record which implant was used, by its number." },
  "chart-courier": {
    AuditEvent: "To record each release of a chart.",
    Binary: "To put the requested documents together.",
    DocumentReference: "To find the documents that were requested.",
  },
  scanshelf: { Patient: "To find the chart to which a paper page belongs." },
  "consent-ledger": { Consent: "To record what the patient allows, changes and withdraws." },
  "mirrorpool-matching": {
    Patient: "To compare names, dates of birth and addresses of all charts.",
    RelatedPerson: "To compare relatives, who often show that two charts are one person.",
    Task: "To ask a person to decide about each likely duplicate.",
  },
  "northwind-referrals": {
    DocumentReference: "To send the summary along, and to file the reply.",
    Patient: "To tell the other practice who is coming.",
    ServiceRequest: "To send a referral, and to follow it until it is answered.",
    Task: "To remind the team of referrals without a reply.",
  },
  "discharge-bridge": {
    Communication: "To record each call, and what the patient said.",
    Encounter: "To notice a discharge on the same day.",
    MedicationRequest: "To compare the medication at home with that at discharge.",
  },
  "village-circle": { CareTeam: "To add the family and neighbours whom the patient invites." },
  "vaccine-vane": {
    Appointment: "To see who comes in soon, and needs no extra invitation.",
    Patient: "To work out by age who is due.",
  },
  "neighborhood-lens": {
    Appointment: "To count missed visits by area.",
    Condition: "To count diagnoses by area.",
    Patient: "To place counts on a map by postal code, without names.",
  },
  "inbox-heron": {
    Communication: "To sort messages by urgency, and to mark what has been read.",
    Observation: "To recognise messages about results that are out of range.",
    Task: "To sort tasks by urgency, and to close what is done.",
  },
  "apercu-chart-brief": { DocumentReference: "To summarise the notes since the last visit." },
  "gullhaven-prior-auth": {
    DocumentReference: "To attach the notes that the insurance asks for.",
    Observation: "To enter the results that the insurance asks for.",
  },
  "formulary-fox": { MedicationRequest: "To find an equal drug that costs the patient less." },
  "refill-robin": {
    Appointment: "To check that a follow-up visit is planned.",
    MedicationRequest: "To check a refill against your protocol, and to prepare it for signature.",
  },
  "lumen-twelve-lead": {
    DiagnosticReport: "To file the ECG with its reading.",
    Observation: "To record heart rate and intervals, and to compare them with earlier ones.",
  },
  "bellows-spirometry": {
    DiagnosticReport: "To file the finished test.",
    Observation: "To record each measured volume, and to compare it with earlier ones.",
  },
  "vitals-dock": {
    Device: "To know which trolley is where, and when it was checked.",
    Observation: "To enter blood pressure, temperature, weight and oxygen without typing.",
  },
  "molar-map": { Observation: "To record the state of each tooth." },
  "iris-ledger": { Observation: "To record acuity and pressure, and to draw their trend." },
  "petite-courbe": { Observation: "To draw height and weight as a curve." },
  "quiet-room": {
    Consent: "To share a note only as far as the patient allows.",
    DocumentReference: "To keep notes apart from the chart until they are shared.",
  },
  "lumen-reminders": {
    Appointment: "To know when a visit is due, and to move it as the patient replies.",
    Communication: "To send reminders, and to read the replies.",
    Patient: "To know the number, the address and the language of a reminder.",
  },
  "senal-messages": { Communication: "To show messages in both languages, and to send replies." },
  "small-applause": {
    Communication: "To send two questions after a visit.",
    Encounter: "To notice that a visit has ended.",
  },
  "renal-rudder": {
    MedicationRequest: "To compare each dose with what the kidneys can take.",
    Observation: "To follow kidney function from laboratory results.",
  },
  "ten-year-heart": { Observation: "To calculate the risk from blood pressure and cholesterol." },
  "northwind-watch": {
    Encounter: "To watch only patients who are on a ward now.",
    Observation: "To notice hours ahead that measurements are drifting.",
    Task: "To ask the nurse in charge to look at the patient.",
  },
  "antibiotic-almanac": { DiagnosticReport: "To take results of cultures into account." },
  "northwind-visits": {
    Appointment: "To open the video room at the time of the visit.",
    Encounter: "To record when the video visit began and ended.",
  },
  cuffline: {
    Device: "To link a cuff with the patient who uses it at home.",
    Observation: "To add readings from home, and to calculate averages.",
  },
  "slumber-log": { Observation: "To add the hours of use and mask leaks of each night." },
  "pasos-a-casa": { Observation: "To record repetitions and pain after each exercise." },
};
