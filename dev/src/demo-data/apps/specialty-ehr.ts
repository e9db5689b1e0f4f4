import type { DemoApp } from "../demo-app.ts";

export const specialtyEhrApps: DemoApp[] = [
  {
    slug: "molar-map",
    vendor: "fernhollow",
    name: "Molar Map",
    summary: "Dental charting inside the medical record: odontogram, perio chart and treatment plan in one tab.",
    description: `Molar Map brings dentistry into the same chart as everything else. Community clinics that offer both no longer keep two records, and the dentist sees the anticoagulant before picking up the forceps.

- An odontogram you can draw on, for adult, primary and mixed dentition
- Six-point perio charting by voice, with bleeding and recession
- Treatment plans with alternatives, costs and the patient's choice
- Alerts from the medical side: blood thinners, valves, allergies, pregnancy
- Images from sensors and intraoral cameras, placed on the tooth

### How it fits your day

The hygienist dictates the numbers, the dentist confirms, and the plan prints with pictures. Findings are stored as coded observations and procedures, so that the physician's view shows them too, in words a physician understands.`,
    category: "SPECIALTY_EHR",
    audience: "CLINICIAN",
    version: "2.8.0",
    glyph: "tooth",
    hue: 195,
    extensionPoints: ["patient-chart-tab", "encounter-panel", "note-panel"],
    smartLaunchUrl: "https://fernhollow.example/molar-map/launch",
    fhirScopes:
      "launch openid fhirUser patient/Patient.r patient/Observation.crus patient/Procedure.crus patient/CarePlan.crus patient/AllergyIntolerance.rs patient/MedicationRequest.rs patient/Media.crs",
    featured: false,
    subscribers: 13,
    screenshotTitles: ["Treatment plan", "Pocket depths over time"],
    publishedAt: "2024-05-21T12:55:00.000Z",
    updatedAt: "2026-07-01T08:30:00.000Z",
    configSchema: {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      properties: {
        toothNumbering: {
          type: "string",
          title: "Tooth numbering",
          description: "How teeth are named on screen and in print.",
          enum: ["universal", "fdi", "palmer"],
          default: "universal",
        },
        perioAlertDepth: {
          type: "integer",
          title: "Highlight pockets from (mm)",
          description: "Deeper readings are drawn in red.",
          minimum: 3,
          maximum: 9,
          default: 4,
        },
      },
      additionalProperties: false,
    },
    plans: [
      {
        name: "Chair",
        description: "Priced by dental chair.",
        pricingModel: "PER_UNIT",
        currency: "USD",
        amount: 8900,
        interval: "MONTH",
        trialDays: 30,
        unitName: "chair",
        features: ["Odontogram and perio", "Voice charting", "Images"],
      },
      {
        name: "Community clinic",
        description: "A flat price for non-profit clinics.",
        pricingModel: "FLAT",
        currency: "USD",
        amount: 14900,
        interval: "MONTH",
        features: ["Unlimited chairs", "Sliding-fee plans", "Program reports"],
      },
    ],
  },
  {
    slug: "iris-ledger",
    vendor: "marrowgate",
    name: "Iris Ledger",
    summary: "Ophthalmology at full speed: acuity, pressure, drawings and OCT trends on one quiet screen.",
    description: `Iris Ledger knows that an eye clinic sees sixty people in a morning. Work-up, exam and plan are laid out for two eyes and three people, each of whom finds the cursor where they left it.

- Acuity, refraction and pressure with carry-forward that asks first
- Drawings of anterior segment and fundus, with layers and a decent brush
- OCT and visual-field trends with treatments marked on the time axis
- Injection plans: intervals, lots, laterality and a hard stop on the wrong eye
- Spectacle prescriptions printed in your format

### Before you install

Tell us which devices you own; most lensmeters, tonometers and OCT machines are supported directly, the rest by file. Existing drawings can be imported as images behind a fresh layer.`,
    category: "SPECIALTY_EHR",
    audience: "CLINICIAN",
    version: "4.1.6",
    glyph: "eye",
    hue: 280,
    extensionPoints: ["patient-chart-tab", "encounter-panel"],
    smartLaunchUrl: "https://marrowgate.example/iris-ledger/launch",
    fhirScopes:
      "launch openid fhirUser patient/Patient.r patient/Observation.crus patient/Procedure.crus patient/VisionPrescription.crs patient/ImagingStudy.rs patient/Media.crs",
    featured: false,
    subscribers: 10,
    screenshotTitles: ["Exam, both eyes", "Eye pressure over time", "Injections due"],
    publishedAt: "2024-02-13T09:50:00.000Z",
    updatedAt: "2026-08-06T13:05:00.000Z",
    configSchema: null,
    plans: [
      {
        name: "Ophthalmologist",
        description: "Priced by ophthalmologist; technicians are free.",
        pricingModel: "PER_UNIT",
        currency: "EUR",
        amount: 12900,
        interval: "MONTH",
        trialDays: 30,
        unitName: "ophthalmologist",
        features: ["All modules", "Free technician seats", "Device connections"],
      },
      {
        name: "Eye centre",
        description: "Volume price for larger centres.",
        pricingModel: "TIERED",
        currency: "EUR",
        amount: null,
        interval: "MONTH",
        unitName: "ophthalmologist",
        tierMode: "VOLUME",
        tiers: [
          { upTo: 10, unitAmount: 11900, flatAmount: 0 },
          { upTo: null, unitAmount: 9500, flatAmount: 0 },
        ],
        features: ["Everything for ophthalmologists", "Injection plans", "Migration", "Named contact"],
      },
    ],
  },
  {
    slug: "petite-courbe",
    vendor: "vallee-claire",
    name: "Petite Courbe",
    summary: "Growth curves, milestones and vaccines for children, drawn so that parents want to take one home.",
    description: `Petite Courbe is the paediatric page that general charts forget. Growth is plotted on the right curve for age, sex and prematurity; milestones are asked about in a parent's words; and the visit ends with a picture for the fridge.

- WHO, national and condition-specific growth references
- Corrected age for children born early, switched off when it is time
- Mid-parental height, growth velocity and head circumference
- Milestone questionnaires in French, English and six other languages
- Well-child visit outlines with anticipatory guidance

### How it fits your day

Measurements already in the chart appear at once, back to birth. A point that does not fit is questioned gently, since the scale is wrong more often than the child. Parents see the same curve in the portal, with an explanation.`,
    category: "SPECIALTY_EHR",
    audience: "CLINICIAN",
    version: "3.9.1",
    glyph: "baby",
    hue: 340,
    extensionPoints: ["patient-chart-tab", "patient-chart-panel", "patient-portal-menu"],
    smartLaunchUrl: "https://vallee-claire.example/petite-courbe/launch",
    fhirScopes:
      "launch openid fhirUser patient/Patient.r patient/Observation.rs patient/Immunization.rs patient/QuestionnaireResponse.crs patient/FamilyMemberHistory.rs",
    featured: false,
    subscribers: 26,
    screenshotTitles: ["Well-child visit", "Growth curve", "Milestones to discuss"],
    publishedAt: "2023-10-17T11:40:00.000Z",
    updatedAt: "2026-06-23T10:55:00.000Z",
    configSchema: null,
    plans: [
      {
        name: "Courbes",
        description: "Growth curves, free for everyone.",
        pricingModel: "FREE",
        currency: "CAD",
        amount: 0,
        interval: null,
        features: ["All references", "Corrected age", "Printing"],
      },
      {
        name: "Cabinet",
        description: "The complete page for one practice.",
        pricingModel: "FLAT",
        currency: "CAD",
        amount: 6900,
        interval: "MONTH",
        trialDays: 30,
        features: ["Milestones", "Visit outlines", "Portal curves", "Bilingual support"],
      },
    ],
  },
  {
    slug: "quiet-room",
    vendor: "otterbourne",
    name: "Quiet Room",
    summary: "Behavioral health notes, measures and safety plans, kept apart from the chart until you share them.",
    description: `Quiet Room gives therapists and psychiatrists a place for the work that needs a closed door. Process notes stay private, while the summary, the medications and the safety plan are visible to those who must see them.

- Session notes in the structures you were taught, or in none at all
- Measures such as mood, anxiety and sleep scales, with change over time
- Safety plans written with the patient, and on their phone when needed
- Sharing by paragraph, with a reason and an expiry date
- Group sessions: one note, many charts, nobody else's name

### Privacy

Process notes are encrypted with a key held by your organization. Support staff cannot read them, and neither can we. Access in an emergency requires two people and leaves a trace that the therapist sees.`,
    category: "SPECIALTY_EHR",
    audience: "CLINICIAN",
    version: "2.5.5",
    glyph: "brain",
    hue: 125,
    extensionPoints: ["patient-chart-tab", "note-panel", "patient-portal-menu"],
    smartLaunchUrl: "https://otterbourne.example/quiet-room/launch",
    fhirScopes:
      "launch openid fhirUser patient/Patient.r patient/Encounter.rs patient/QuestionnaireResponse.crs patient/CarePlan.crus patient/DocumentReference.crus patient/Consent.rs",
    featured: false,
    subscribers: 34,
    screenshotTitles: ["Session note", "Mood over time"],
    publishedAt: "2024-01-30T17:10:00.000Z",
    updatedAt: "2026-09-10T12:15:00.000Z",
    configSchema: null,
    plans: [
      {
        name: "Therapist",
        description: "For one therapist.",
        pricingModel: "FLAT",
        currency: "GBP",
        amount: 2900,
        interval: "MONTH",
        trialDays: 30,
        features: ["Private notes", "All measures", "Safety plans"],
      },
      {
        name: "Service",
        description: "Priced by clinician, for teams.",
        pricingModel: "PER_UNIT",
        currency: "GBP",
        amount: 2400,
        interval: "MONTH",
        unitName: "clinician",
        includedUnits: 2,
        features: ["Group sessions", "Sharing rules", "Outcome reports", "Phone support"],
      },
    ],
  },
];
