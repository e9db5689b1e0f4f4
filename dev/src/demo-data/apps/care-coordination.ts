import type { DemoApp } from "../demo-app.ts";

export const careCoordinationApps: DemoApp[] = [
  {
    slug: "northwind-referrals",
    vendor: "northwind-health",
    name: "Northwind Referrals",
    summary: "Referrals that come back: sent, booked, seen and answered, with no loose end left in a drawer.",
    description: `Half of all referrals are never closed. Northwind Referrals follows each one from the order to the consultant's letter, and asks the right person at the right moment when it stops moving.

- A directory of specialists with real waiting times and the insurance they take
- A packet with the question, the relevant results and nothing else
- Status from the receiving office without a login: they answer by link
- Reminders to the patient, the sender or the receiver, whoever is holding things up
- Letters that return are attached to the referral and to the chart

### How it fits your day

The board has four columns and most cards move by themselves. A coordinator who looks at it twice a day can follow three hundred open referrals. Urgent ones carry a red edge until the patient has been seen.`,
    category: "CARE_COORDINATION",
    audience: "CLINICIAN",
    version: "3.5.8",
    glyph: "link",
    hue: 190,
    extensionPoints: ["patient-chart-tab", "encounter-panel", "global-nav", "cds:order-sign"],
    smartLaunchUrl: "https://northwind-health.example/referrals/launch",
    fhirScopes:
      "launch openid fhirUser user/ServiceRequest.rus user/Task.crus user/Patient.rs user/DocumentReference.crs user/Organization.rs user/HealthcareService.rs",
    featured: false,
    subscribers: 46,
    screenshotTitles: ["Open referrals", "Needs a nudge", "With the receiving office"],
    publishedAt: "2023-11-14T14:15:00.000Z",
    updatedAt: "2026-09-29T09:20:00.000Z",
    configSchema: {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      properties: {
        nudgeAfterDays: {
          type: "integer",
          title: "Nudge after (days)",
          description: "How long a referral may rest before someone is asked about it.",
          minimum: 1,
          maximum: 60,
          default: 7,
        },
        coordinatorEmail: {
          type: "string",
          title: "Coordinator's email",
          description: "Receives a summary each morning.",
          maxLength: 254,
        },
      },
      additionalProperties: false,
    },
    plans: [
      {
        name: "Senders",
        description: "Priced by the clinicians who refer; receiving offices pay nothing.",
        pricingModel: "PER_UNIT",
        currency: "USD",
        amount: 2900,
        interval: "MONTH",
        trialDays: 30,
        unitName: "referring clinician",
        features: ["Unlimited referrals", "Directory", "Patient reminders"],
      },
      {
        name: "Network",
        description: "For networks that coordinate referrals centrally.",
        pricingModel: "TIERED",
        currency: "USD",
        amount: null,
        interval: "MONTH",
        unitName: "referral",
        tierMode: "GRADUATED",
        tiers: [
          { upTo: 1000, unitAmount: 0, flatAmount: 90000 },
          { upTo: 5000, unitAmount: 75, flatAmount: 0 },
          { upTo: null, unitAmount: 50, flatAmount: 0 },
        ],
        features: ["Team board", "Own directory", "Leakage report", "Named contact"],
      },
    ],
  },
  {
    slug: "zurich-rounds",
    vendor: "edelgrat",
    name: "Zürich Rounds",
    summary: "One rounding list for nurses, physicians and therapists, punctual as a tram and just as quiet.",
    description: `Zürich Rounds gives everyone on the ward the same list. Tasks spoken at the bedside land with the person who will do them, and the plan for the day is written by the time the round is over.

- A list per team, in the order in which you actually walk
- One line per patient: what matters today, what blocks discharge, who acts
- Tasks with an owner and a time, ticked off from any phone
- A handover sheet that prints on a single folded page
- Works underground, in lifts and in lead-lined rooms; it catches up later

### Language and conventions

The interface speaks German, French, Italian and English, and each user chooses. Abbreviations follow your hospital's own list; the app asks before it accepts a new one.`,
    category: "CARE_COORDINATION",
    audience: "CLINICIAN",
    version: "2.1.9",
    glyph: "mountain",
    hue: 15,
    extensionPoints: ["global-nav", "patient-chart-panel", "encounter-panel"],
    smartLaunchUrl: "https://edelgrat.example/zurich-rounds/launch",
    fhirScopes:
      "launch openid fhirUser user/Patient.rs user/Encounter.rs user/CareTeam.rs user/Task.cruds user/Observation.rs",
    featured: false,
    subscribers: 11,
    screenshotTitles: ["Ward tasks", "Rounding list", "Team thread"],
    publishedAt: "2024-10-08T05:50:00.000Z",
    updatedAt: "2026-07-14T08:15:00.000Z",
    configSchema: null,
    plans: [
      {
        name: "Station",
        description: "Priced by bed, whoever uses it.",
        pricingModel: "PER_UNIT",
        currency: "EUR",
        amount: 350,
        interval: "MONTH",
        trialDays: 30,
        unitName: "bed",
        features: ["Unlimited users", "Offline work", "Handover sheet"],
      },
      {
        name: "Hospital",
        description: "A yearly price per bed that falls with size.",
        pricingModel: "TIERED",
        currency: "EUR",
        amount: null,
        interval: "YEAR",
        unitName: "bed",
        tierMode: "VOLUME",
        tiers: [
          { upTo: 100, unitAmount: 3600, flatAmount: 0 },
          { upTo: 400, unitAmount: 2900, flatAmount: 0 },
          { upTo: null, unitAmount: 2200, flatAmount: 0 },
        ],
        features: ["Everything in Station", "Own abbreviations", "On-site training", "Service level"],
      },
    ],
  },
  {
    slug: "discharge-bridge",
    vendor: "tarnbrook",
    name: "Discharge Bridge",
    summary: "The first thirty days at home: calls, medication checks and visits that happen when promised.",
    description: `Discharge Bridge watches for patients who come home from hospital and helps your team through the weeks that follow. It knows who is due a call within two days, who needs a visit within seven, and what has to be reconciled.

- Alerts from hospital notices, with the summary attached as soon as it arrives
- A call script that adapts to the reason for admission
- Old and new medication lists side by side, with the differences in colour
- Risk bands from the data you have, explained in words
- Transitional-care billing prepared once the conditions are met

### Before you install

Ask your regional exchange for admission and discharge notices; we help with the form. Without them the app still works from summaries that reach your inbox, a day or so later.`,
    category: "CARE_COORDINATION",
    audience: "CLINICIAN",
    version: "5.0.3",
    glyph: "bridge",
    hue: 260,
    extensionPoints: ["global-nav", "patient-chart-tab", "cds:encounter-discharge"],
    smartLaunchUrl: "https://tarnbrook.example/discharge-bridge/launch",
    fhirScopes:
      "launch openid fhirUser user/Patient.rs user/Encounter.rs user/MedicationRequest.rs user/CarePlan.rus user/Task.crus user/Communication.cr",
    featured: false,
    subscribers: 29,
    screenshotTitles: ["Home this week", "Calls due today"],
    publishedAt: "2023-09-26T16:40:00.000Z",
    updatedAt: "2026-04-28T12:50:00.000Z",
    configSchema: {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      properties: {
        firstCallHours: {
          type: "integer",
          title: "First call within (hours)",
          description: "Counted from discharge, on working days.",
          enum: [24, 48, 72],
          default: 48,
        },
        exchangeToken: {
          type: "string",
          title: "Exchange token",
          description: "For notices from your regional health information exchange. Never shown again.",
          writeOnly: true,
        },
      },
      additionalProperties: false,
    },
    plans: [
      {
        name: "By discharge",
        description: "A price per followed discharge.",
        pricingModel: "TIERED",
        currency: "USD",
        amount: null,
        interval: "MONTH",
        unitName: "discharge",
        tierMode: "GRADUATED",
        tiers: [
          { upTo: 50, unitAmount: 600, flatAmount: 0 },
          { upTo: 300, unitAmount: 450, flatAmount: 0 },
          { upTo: null, unitAmount: 325, flatAmount: 0 },
        ],
        features: ["Notices and scripts", "Medication comparison", "Billing preparation"],
      },
      {
        name: "Care team",
        description: "A flat price for teams with many discharges.",
        pricingModel: "FLAT",
        currency: "USD",
        amount: 149000,
        interval: "MONTH",
        trialDays: 30,
        features: ["Unlimited discharges", "Own scripts", "Readmission report", "Phone support"],
      },
    ],
  },
  {
    slug: "village-circle",
    vendor: "fernhollow",
    name: "Village Circle",
    summary: "Brings family, neighbours and community services into the care team, each with the right view.",
    description: `It takes a daughter, a pharmacist, a meal service and a neighbour with a key. Village Circle gives each of them the part of the plan they need and nothing beyond it, with the patient in charge of the list.

- A circle per patient, drawn and redrawn by the patient or a delegate
- Referrals to food, transport and housing services, with an answer that returns
- A shared calendar of visits, deliveries and who holds the spare key
- Short questionnaires on social needs, in words that people use
- Notes from the circle arrive as suggestions rather than as chart entries

### For community partners

Partners use Village Circle free of charge and without a health record of their own. They see a first name, an address and the request, and they close it with one tap when the work is done.`,
    category: "CARE_COORDINATION",
    audience: "CLINICIAN",
    version: "1.8.1",
    glyph: "house",
    hue: 140,
    extensionPoints: ["patient-chart-panel", "patient-portal-menu"],
    smartLaunchUrl: "https://fernhollow.example/village-circle/launch",
    fhirScopes:
      "launch openid fhirUser patient/Patient.r patient/CareTeam.rus patient/CarePlan.rs patient/ServiceRequest.crs patient/QuestionnaireResponse.crs",
    featured: false,
    subscribers: 23,
    screenshotTitles: ["Requests to partners", "The circle", "A note from the circle"],
    publishedAt: "2024-12-03T11:05:00.000Z",
    updatedAt: "2026-08-11T14:00:00.000Z",
    configSchema: null,
    plans: [
      {
        name: "Neighbour",
        description: "Free for practices with up to fifty circles.",
        pricingModel: "FREE",
        currency: "USD",
        amount: 0,
        interval: null,
        features: ["50 circles", "Community referrals", "Questionnaires"],
      },
      {
        name: "Village",
        description: "For practices that make circles a habit.",
        pricingModel: "FLAT",
        currency: "USD",
        amount: 12900,
        interval: "MONTH",
        features: ["500 circles", "Shared calendars", "Partner directory"],
      },
      {
        name: "County",
        description: "Billed by the circles that are active in a month.",
        pricingModel: "USAGE",
        currency: "USD",
        amount: 20,
        interval: "MONTH",
        metric: "active_circles",
        aggregation: "MAX",
        includedUnits: 500,
        features: ["500 circles included", "Needs by district", "Partner onboarding", "Named contact"],
      },
    ],
  },
];
