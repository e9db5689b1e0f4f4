import type { DemoApp } from "../demo-app.ts";

export const ehrEfficiencyApps: DemoApp[] = [
  {
    slug: "inbox-heron",
    vendor: "kestrelway",
    name: "Inbox Heron",
    summary: "Stands still in the stream of messages and picks out the three that need you before lunch.",
    description: `Inbox Heron reads the in-basket as a good assistant would. Refills, normal results, forms and real questions are sorted into small piles, each with a draft answer and the context it needs, so that you can work pile by pile instead of line by line.

- Urgent messages lifted out within a minute, with the sentence that made them urgent
- Normal results grouped, with a reply in your own words to approve together
- Questions routed to nurse, front desk or pharmacist by rules you can read
- Relevant labs, visits and medications beside the message
- Evening summary: what came, what went, what waits

### How it fits your day

Clinicians who use Heron for a month spend about thirty-five fewer minutes a day in the inbox. It never sends anything by itself, and its sorting can be corrected with a single key, from which it learns.`,
    category: "EHR_EFFICIENCY",
    audience: "CLINICIAN",
    version: "5.9.0",
    glyph: "inbox",
    hue: 220,
    extensionPoints: ["global-nav", "patient-chart-panel"],
    smartLaunchUrl: "https://kestrelway.example/inbox-heron/launch",
    fhirScopes:
      "launch openid fhirUser user/Communication.rus user/Task.rus user/Patient.rs user/Observation.rs user/DiagnosticReport.rs user/MedicationRequest.rs",
    featured: true,
    subscribers: 55,
    screenshotTitles: ["This morning's piles", "Draft answer", "Minutes saved"],
    publishedAt: "2023-10-24T08:10:00.000Z",
    updatedAt: "2026-10-22T11:25:00.000Z",
    configSchema: {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      properties: {
        tone: {
          type: "string",
          title: "Tone of draft answers",
          description: "Clinicians can choose another for themselves.",
          enum: ["warm", "neutral", "brief"],
          default: "warm",
        },
        quietHours: {
          type: "boolean",
          title: "Quiet hours",
          description: "Hold everything that is not urgent from 7 pm to 7 am.",
          default: true,
        },
      },
      additionalProperties: false,
    },
    plans: [
      {
        name: "Clinician",
        description: "Priced by inbox.",
        pricingModel: "PER_UNIT",
        currency: "USD",
        amount: 4900,
        interval: "MONTH",
        trialDays: 14,
        unitName: "clinician",
        features: ["All piles", "Draft answers", "Evening summary"],
      },
      {
        name: "Clinic",
        description: "A clinic of up to ten clinicians.",
        pricingModel: "FLAT",
        currency: "USD",
        amount: 39900,
        interval: "MONTH",
        trialDays: 14,
        features: ["Up to 10 clinicians", "Routing rules", "Shared drafts", "Phone support"],
      },
    ],
  },
  {
    slug: "kestrel-keys",
    vendor: "kestrelway",
    name: "Kestrel Keys",
    summary: "A command palette for the health record: press a key, type three letters, be there.",
    description: `Kestrel Keys puts everything you do in the health record behind one shortcut. Press it, type a few letters of a patient, a page, an order set or an action, and press Enter. Your hands stay where they are.

- Learns your habits and brings the likely command to the top
- Shortcuts for the twenty commands you use most, shown until you know them
- Jump to the last five charts, even after a restart
- Works with dictation microphones that have buttons
- Keeps its statistics on your own computer

### Privacy

Kestrel Keys drives the pages you are signed in to. It asks only who you are, reads no patient data through an interface of its own, and sends none to us. Settings travel with your account.`,
    category: "EHR_EFFICIENCY",
    audience: "CLINICIAN",
    version: "9.0.3",
    glyph: "keyboard",
    hue: 70,
    extensionPoints: ["global-nav", "settings"],
    smartLaunchUrl: null,
    fhirScopes: "openid fhirUser",
    featured: false,
    subscribers: 58,
    screenshotTitles: ["Command palette"],
    publishedAt: "2023-03-28T16:20:00.000Z",
    updatedAt: "2026-05-19T10:40:00.000Z",
    configSchema: null,
    plans: [
      {
        name: "Personal",
        description: "Free for every clinician.",
        pricingModel: "FREE",
        currency: "USD",
        amount: 0,
        interval: null,
        features: ["Command palette", "Personal shortcuts", "Recent charts"],
      },
      {
        name: "Team",
        description: "Shared commands for the whole practice.",
        pricingModel: "PER_UNIT",
        currency: "USD",
        amount: 300,
        interval: "MONTH",
        unitName: "user",
        features: ["Shared commands", "Order set shortcuts", "Email support"],
      },
    ],
  },
  {
    slug: "apercu-chart-brief",
    vendor: "vallee-claire",
    name: "Aperçu Chart Brief",
    summary: "A one-page brief before each visit: what changed, what is open and what the patient hopes for.",
    description: `Aperçu reads the chart so that you can walk in prepared. Fifteen minutes before a visit it writes a single page: the thread of the story, what has changed since last time, what was promised and has not happened yet.

- Every statement carries a link to its source in the chart
- New results and letters first, long-known history last
- Open loops: tests ordered but not done, referrals without an answer
- The patient's own words from the booking or the intake form
- French or English, whichever language the chart happens to be in

### What it will not do

Aperçu does not suggest diagnoses and does not fill gaps with guesses. Where the chart contradicts itself, it shows both statements and their dates. The page disappears after the visit unless you choose to keep it.`,
    category: "EHR_EFFICIENCY",
    audience: "CLINICIAN",
    version: "1.5.6",
    glyph: "magnifier",
    hue: 310,
    extensionPoints: ["patient-chart-tab", "appointment-panel", "cds:encounter-start"],
    smartLaunchUrl: "https://vallee-claire.example/apercu/launch",
    fhirScopes:
      "launch openid fhirUser patient/Patient.r patient/Encounter.rs patient/Condition.rs patient/Observation.rs patient/DiagnosticReport.rs patient/DocumentReference.rs patient/ServiceRequest.rs",
    featured: false,
    subscribers: 21,
    screenshotTitles: ["Briefs for today", "One-page brief"],
    publishedAt: "2025-02-11T14:50:00.000Z",
    updatedAt: "2026-09-24T08:05:00.000Z",
    configSchema: null,
    plans: [
      {
        name: "Au rythme",
        description: "A price per brief that falls through the month.",
        pricingModel: "TIERED",
        currency: "CAD",
        amount: null,
        interval: "MONTH",
        trialDays: 14,
        unitName: "brief",
        tierMode: "GRADUATED",
        tiers: [
          { upTo: 100, unitAmount: 40, flatAmount: 0 },
          { upTo: 1000, unitAmount: 28, flatAmount: 0 },
          { upTo: null, unitAmount: "17.5", flatAmount: 0 },
        ],
        features: ["French and English", "Source links", "Open loops"],
      },
      {
        name: "Cabinet",
        description: "Unlimited briefs for one clinician.",
        pricingModel: "PER_UNIT",
        currency: "CAD",
        amount: 8900,
        interval: "MONTH",
        unitName: "clinician",
        features: ["Unlimited briefs", "Own layout", "Bilingual support"],
      },
    ],
  },
  {
    slug: "click-census",
    vendor: "thornwick",
    name: "Click Census",
    summary: "Shows where the clicks go: time in notes, inbox and orders by team, never by name on a wall.",
    description: `Click Census measures how your organization uses its health record, from the access log it already keeps. It finds the screens that cost the most time, and shows whether the change you made last month helped.

- Time by activity, specialty and hour of the day, evenings included
- Workflows compared: the same task, done in nine clicks or in twenty-three
- Before-and-after studies for template and layout changes
- Groups of at least five; individuals see their own figures and no one else's
- Exports for your wellness committee or your vendor

### Getting started

Point it at ninety days of audit events and come back tomorrow. The first report names the three screens most worth fixing; many teams find that one of them can be changed in the settings they already have.`,
    category: "EHR_EFFICIENCY",
    audience: "BACKEND",
    version: "2.0.0",
    glyph: "cursor",
    hue: 185,
    extensionPoints: ["global-nav"],
    smartLaunchUrl: null,
    fhirScopes: "system/AuditEvent.rs system/PractitionerRole.rs",
    featured: false,
    subscribers: 6,
    screenshotTitles: ["Screens worth fixing", "Before and after", "Time by activity"],
    publishedAt: "2025-06-24T12:30:00.000Z",
    updatedAt: "2026-06-16T09:00:00.000Z",
    configSchema: null,
    plans: [
      {
        name: "Census",
        description: "A yearly price for one organization.",
        pricingModel: "FLAT",
        currency: "USD",
        amount: 480000,
        interval: "YEAR",
        trialDays: 30,
        features: ["Monthly report", "Personal figures", "Exports"],
      },
      {
        name: "Metered",
        description: "Billed by the audit events that are read.",
        pricingModel: "USAGE",
        currency: "USD",
        amount: "0.02",
        interval: "MONTH",
        metric: "audit_events_read",
        aggregation: "SUM",
        includedUnits: 100000,
        features: ["100,000 events included", "All reports"],
      },
    ],
  },
];
