import type { DemoApp } from "../demo-app.ts";

export const orderingPrescribingApps: DemoApp[] = [
  {
    slug: "gullhaven-prior-auth",
    vendor: "gullhaven",
    name: "Gullhaven Prior Auth",
    summary: "Prior authorizations started while you order, filled from the chart and followed to the answer.",
    description: `Gullhaven Prior Auth tells you, while you choose a drug or a scan, whether the payer will want to be asked. If so it collects what the payer needs, fills in the form from the chart, and leaves you with the two questions only you can answer.

- Requirements shown at the moment of ordering, with alternatives that need none
- Forms of more than six hundred plans, electronic where the payer allows it
- Evidence picked from the chart: the lab, the failed first-line drug, the note
- Status until the decision, with appeals prepared when the answer is no
- Renewals begun thirty days before an approval runs out

### Before you install

You need a payer connection key, which we issue after a short verification of your practice. Begin with one specialty; dermatology and rheumatology usually feel the difference first.`,
    category: "ORDERING_PRESCRIBING",
    audience: "CLINICIAN",
    version: "4.8.5",
    glyph: "clipboard",
    hue: 205,
    extensionPoints: ["encounter-panel", "global-nav", "cds:order-select", "cds:order-sign"],
    smartLaunchUrl: "https://gullhaven.example/prior-auth/launch",
    fhirScopes:
      "launch openid fhirUser patient/Patient.r patient/Coverage.rs patient/MedicationRequest.rs patient/ServiceRequest.rs patient/Condition.rs patient/Observation.rs patient/DocumentReference.rs user/Task.crus",
    featured: false,
    subscribers: 50,
    screenshotTitles: ["Waiting for the payer", "Form, filled from the chart", "Approved by plan"],
    publishedAt: "2023-06-06T09:45:00.000Z",
    updatedAt: "2026-10-08T14:30:00.000Z",
    configSchema: {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      properties: {
        connectionKey: {
          type: "string",
          title: "Payer connection key",
          description: "Issued after verification. Never shown again.",
          writeOnly: true,
          minLength: 20,
        },
        startRenewalDays: {
          type: "integer",
          title: "Start renewals (days ahead)",
          description: "How long before an approval ends its renewal is begun.",
          minimum: 7,
          maximum: 90,
          default: 30,
        },
      },
      additionalProperties: false,
    },
    plans: [
      {
        name: "By authorization",
        description: "Pay for each request that is submitted.",
        pricingModel: "USAGE",
        currency: "USD",
        amount: 290,
        interval: "MONTH",
        metric: "authorizations_submitted",
        aggregation: "COUNT",
        includedUnits: 10,
        features: ["10 requests included", "Filled forms", "Status"],
      },
      {
        name: "Specialty practice",
        description: "For practices that ask every day.",
        pricingModel: "PER_UNIT",
        currency: "USD",
        amount: 11900,
        interval: "MONTH",
        trialDays: 14,
        unitName: "prescriber",
        features: ["Unlimited requests", "Appeals", "Renewals", "Phone support"],
      },
    ],
  },
  {
    slug: "formulary-fox",
    vendor: "gullhaven",
    name: "Formulary Fox",
    summary: "Shows what the patient will pay for each choice before you sign, and finds the cheaper equal.",
    description: `Formulary Fox asks the patient's plan while you prescribe and puts the price next to the drug. If an equivalent would cost less, it says so in one line and lets you change with one key.

- Patient-specific prices at the preferred pharmacy and at two nearby
- Alternatives of equal effect, chosen by pharmacists rather than by payers
- Quantity limits, step rules and cash prices that beat the copay
- A note for the patient with the price and where to find it
- Silent when there is nothing worth saying

### How it fits your day

A fox's tail beside a drug means that an alternative exists. Ignore it and nothing happens; open it and you see at most three choices. Prescribers accept about one suggestion in five, which is roughly what a good pharmacist achieves.`,
    category: "ORDERING_PRESCRIBING",
    audience: "CLINICIAN",
    version: "3.2.2",
    glyph: "pill",
    hue: 40,
    extensionPoints: ["encounter-panel", "cds:order-select"],
    smartLaunchUrl: "https://gullhaven.example/formulary-fox/launch",
    fhirScopes:
      "launch openid fhirUser patient/Patient.r patient/Coverage.rs patient/MedicationRequest.rs patient/AllergyIntolerance.rs",
    featured: false,
    subscribers: 39,
    screenshotTitles: ["Prices for this order", "Alternatives"],
    publishedAt: "2023-12-19T13:25:00.000Z",
    updatedAt: "2026-07-21T16:45:00.000Z",
    configSchema: null,
    plans: [
      {
        name: "Prescriber",
        description: "Priced by prescriber.",
        pricingModel: "PER_UNIT",
        currency: "USD",
        amount: 1900,
        interval: "MONTH",
        trialDays: 30,
        unitName: "prescriber",
        features: ["Unlimited price checks", "Alternatives", "Patient note"],
      },
      {
        name: "Taste",
        description: "A hundred price checks a month, free.",
        pricingModel: "FREE",
        currency: "USD",
        amount: 0,
        interval: null,
        features: ["100 price checks", "1 prescriber"],
      },
    ],
  },
  {
    slug: "lab-lantern",
    vendor: "tarnbrook",
    name: "Lab Lantern",
    summary: "Orders to the right lab, on the right tube, with results that explain themselves on return.",
    description: `Lab Lantern sits between your orders and the laboratories you use. It chooses the lab by coverage, distance and turnaround, prints what the phlebotomist needs to know, and puts the answer into context when it comes back.

- One catalogue across all your labs, with their tests matched
- Tube, volume, fasting and handling on a single card
- Duplicate orders caught, with the date and value of the last result
- Results beside their own history and the drugs that may explain them
- Missing results chased after the lab's own promised time

### Before you install

Send us your lab account numbers; connections to new laboratories take between three days and three weeks. Until a lab is connected, its orders print as requisitions exactly as they do today.`,
    category: "ORDERING_PRESCRIBING",
    audience: "CLINICIAN",
    version: "2.7.8",
    glyph: "flask",
    hue: 270,
    extensionPoints: ["encounter-panel", "patient-chart-tab", "cds:order-select", "cds:order-sign"],
    smartLaunchUrl: "https://tarnbrook.example/lab-lantern/launch",
    fhirScopes:
      "launch openid fhirUser patient/Patient.r patient/Coverage.rs patient/ServiceRequest.crus patient/Specimen.crs patient/DiagnosticReport.rs patient/Observation.rs",
    featured: false,
    subscribers: 30,
    screenshotTitles: ["Orders on their way", "Result in context", "Turnaround by lab"],
    publishedAt: "2024-07-16T10:05:00.000Z",
    updatedAt: "2026-08-27T12:20:00.000Z",
    configSchema: null,
    plans: [
      {
        name: "Two labs",
        description: "For practices with one or two laboratories.",
        pricingModel: "FLAT",
        currency: "USD",
        amount: 8900,
        interval: "MONTH",
        trialDays: 30,
        features: ["2 lab connections", "Tube cards", "Duplicate check"],
      },
      {
        name: "By the order",
        description: "Any number of labs, billed by order.",
        pricingModel: "USAGE",
        currency: "USD",
        amount: null,
        interval: "MONTH",
        metric: "lab_orders_routed",
        aggregation: "COUNT",
        tierMode: "GRADUATED",
        tiers: [
          { upTo: 500, unitAmount: 20, flatAmount: 0 },
          { upTo: null, unitAmount: "12.5", flatAmount: 0 },
        ],
        features: ["Unlimited connections", "Result context", "Turnaround report"],
      },
    ],
  },
  {
    slug: "refill-robin",
    vendor: "copperfinch",
    name: "Refill Robin",
    summary: "Refill requests checked against your own protocol, so that most need a glance instead of a hunt.",
    description: `Refill Robin reads each request from the pharmacy and checks what your protocol asks for: the last visit, the monitoring lab, the dose, the interval. It answers green, amber or red and shows its work.

- Protocols for eighty drug classes, approved by your own physicians
- Green requests bundled for one signature, with each line visible
- Missing labs or visits ordered and booked together with a bridging supply
- Controlled substances always left to the prescriber
- A log that satisfies the auditor and teaches the newcomer

### How it fits your day

Nurses open Robin twice a day and clear the queue in a quarter of an hour. Prescribers see ambers and reds only. After a month, the report shows which protocols are too strict and which might be too kind.`,
    category: "ORDERING_PRESCRIBING",
    audience: "CLINICIAN",
    version: "5.1.1",
    glyph: "refresh",
    hue: 145,
    extensionPoints: ["global-nav", "patient-chart-panel", "settings"],
    smartLaunchUrl: "https://copperfinch.example/refill-robin/launch",
    fhirScopes:
      "launch openid fhirUser user/MedicationRequest.rus user/Patient.rs user/Observation.rs user/Encounter.rs user/Appointment.rs user/Task.rus",
    featured: false,
    subscribers: 47,
    screenshotTitles: ["Requests by colour", "Protocol check"],
    publishedAt: "2023-11-28T15:55:00.000Z",
    updatedAt: "2026-03-10T11:10:00.000Z",
    configSchema: {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      properties: {
        bridgeDays: {
          type: "integer",
          title: "Bridging supply (days)",
          description: "What to propose when a visit or a lab is missing.",
          minimum: 0,
          maximum: 90,
          default: 30,
        },
        bundleGreen: {
          type: "boolean",
          title: "Bundle green requests",
          description: "Offer them for one signature at noon and at five.",
          default: true,
        },
      },
      additionalProperties: false,
    },
    plans: [
      {
        name: "By request",
        description: "Priced by the requests that are checked.",
        pricingModel: "TIERED",
        currency: "USD",
        amount: null,
        interval: "MONTH",
        trialDays: 14,
        unitName: "refill request",
        tierMode: "GRADUATED",
        tiers: [
          { upTo: 200, unitAmount: 0, flatAmount: 2900 },
          { upTo: 2000, unitAmount: 16, flatAmount: 0 },
          { upTo: null, unitAmount: 9, flatAmount: 0 },
        ],
        features: ["All protocols", "Green bundles", "Audit log"],
      },
      {
        name: "Group",
        description: "Several sites with one set of protocols.",
        pricingModel: "FLAT",
        currency: "USD",
        amount: 79900,
        interval: "MONTH",
        features: ["Unlimited requests", "Protocol committee tools", "Reports", "Named contact"],
      },
    ],
  },
];
