import type { DemoApp } from "../demo-app.ts";

export const patientEngagementApps: DemoApp[] = [
  {
    slug: "lumen-reminders",
    vendor: "lumen-medical",
    name: "Lumen Reminders",
    summary: "Visit reminders by text, voice or email that patients can answer, move or cancel in their own words.",
    description: `Lumen Reminders speaks the way a good receptionist does. It reminds once early and once late, understands the answer, and does what the answer asks for: confirms, moves the visit, or frees the slot while it can still be filled.

- Text, voice and email, by the patient's preference and at a decent hour
- Understands "can we do next week" as well as "C to confirm"
- Preparation included: fasting, a full bladder, bring your inhaler
- Families get one message for three children instead of three messages
- No-show rates by provider, weekday and lead time

### How it fits your day

Answers appear beside the appointment. Only those it could not understand reach a person, usually fewer than four in a hundred. Lumen Reminders works on its own, and hand in hand with Lumen Schedule if you have both.`,
    category: "PATIENT_ENGAGEMENT",
    audience: "BACKEND",
    version: "6.4.2",
    glyph: "bell",
    hue: 65,
    extensionPoints: ["appointment-panel", "settings", "cds:appointment-book"],
    smartLaunchUrl: null,
    fhirScopes: "system/Appointment.rus system/Patient.r system/Communication.crs",
    featured: false,
    subscribers: 59,
    screenshotTitles: ["Answers today", "Kept visits", "Reminders going out"],
    publishedAt: "2023-03-07T13:50:00.000Z",
    updatedAt: "2026-10-19T08:20:00.000Z",
    configSchema: {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      properties: {
        firstReminderDays: {
          type: "integer",
          title: "First reminder (days ahead)",
          description: "The second one goes out on the day before.",
          minimum: 2,
          maximum: 21,
          default: 5,
        },
        channels: {
          type: "array",
          title: "Channels",
          description: "Tried in this order.",
          items: { type: "string", enum: ["text", "email", "voice"] },
          uniqueItems: true,
          minItems: 1,
          maxItems: 3,
          default: ["text", "email"],
        },
        signature: {
          type: "string",
          title: "Signature",
          description: "How the practice signs a message.",
          maxLength: 60,
        },
      },
      additionalProperties: false,
    },
    plans: [
      {
        name: "By message",
        description: "Texts and emails at one small rate; answers are free.",
        pricingModel: "USAGE",
        currency: "USD",
        amount: "2.5",
        interval: "MONTH",
        trialDays: 14,
        metric: "messages_sent",
        aggregation: "COUNT",
        includedUnits: 500,
        features: ["500 messages included", "Answers understood", "Families bundled"],
      },
      {
        name: "By provider",
        description: "Unlimited messages, voice included.",
        pricingModel: "PER_UNIT",
        currency: "USD",
        amount: 2900,
        interval: "MONTH",
        trialDays: 14,
        unitName: "provider",
        features: ["Unlimited messages", "Voice", "No-show report", "Phone support"],
      },
    ],
  },
  {
    slug: "senal-messages",
    vendor: "penasol",
    name: "Señal Messages",
    summary: "Secure two-way messaging in Spanish and English, where each side reads the language they think in.",
    description: `Señal lets a patient write in Spanish and a nurse answer in English, or the other way round, without either of them feeling the seam. Medical phrases come from a reviewed glossary, and anything uncertain goes to a human interpreter.

- Both texts kept side by side, so that nothing is lost in the record
- A glossary of nine thousand phrases, reviewed by bilingual clinicians
- Doubtful sentences marked and sent to an interpreter within ten minutes
- Voice messages for patients who would rather speak than write
- Family members added with the patient's consent, and removed as easily

### Before you install

Appoint one bilingual colleague as glossary keeper; an hour a month is enough. Translation supports everyday messages. For consent and serious news, the app reminds you to call an interpreter and offers to do it.`,
    category: "PATIENT_ENGAGEMENT",
    audience: "CLINICIAN",
    version: "3.7.4",
    glyph: "chat",
    hue: 25,
    extensionPoints: ["global-nav", "patient-chart-panel", "patient-portal-menu"],
    smartLaunchUrl: "https://penasol.example/senal/launch",
    fhirScopes: "launch openid fhirUser user/Patient.rs user/Communication.crus user/RelatedPerson.rs user/Consent.rs",
    featured: true,
    subscribers: 45,
    screenshotTitles: ["Conversation in two languages", "Answered within the hour"],
    publishedAt: "2023-09-05T15:15:00.000Z",
    updatedAt: "2026-09-30T11:50:00.000Z",
    configSchema: {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      properties: {
        staffLanguage: {
          type: "string",
          title: "Language of the staff",
          description: "Each colleague can choose another.",
          enum: ["en-US", "es-US"],
          default: "en-US",
        },
        interpreterKey: {
          type: "string",
          title: "Interpreter service key",
          description: "Only if you have a contract of your own. Never shown again.",
          writeOnly: true,
        },
      },
      additionalProperties: false,
    },
    plans: [
      {
        name: "Conversación",
        description: "Priced by the patients who write in a month.",
        pricingModel: "TIERED",
        currency: "USD",
        amount: null,
        interval: "MONTH",
        trialDays: 30,
        unitName: "active patient",
        tierMode: "GRADUATED",
        tiers: [
          { upTo: 50, unitAmount: 0, flatAmount: 2900 },
          { upTo: 500, unitAmount: 45, flatAmount: 0 },
          { upTo: null, unitAmount: 30, flatAmount: 0 },
        ],
        features: ["Spanish and English", "Glossary", "Voice messages"],
      },
      {
        name: "Clínica",
        description: "A flat price with interpreter minutes.",
        pricingModel: "FLAT",
        currency: "USD",
        amount: 34900,
        interval: "MONTH",
        features: ["Unlimited patients", "120 interpreter minutes", "Own glossary", "Bilingual support"],
      },
    ],
  },
  {
    slug: "path-postcards",
    vendor: "pocketlark",
    name: "Path Postcards",
    summary: "Small, well-timed messages that guide patients through surgery, pregnancy or a new diagnosis.",
    description: `A leaflet of twelve pages helps nobody on day three. Path Postcards sends the right paragraph on the right morning: stop this tablet today, this bruise is normal, call us if it is not.

- Forty-five journeys written by nurses, from knee replacement to first insulin
- Timed by events in the chart, and paused when something changes
- One question per card at most, with answers that alert you if they should
- Pictures, short films and large-print versions
- A journey editor that feels like arranging postcards on a table

### How it fits your day

Enroll a patient from the chart with two clicks, or let an order do it. The team sees a green, amber or silent mark for each traveller, and only amber ones ask for attention. Most journeys raise fewer than two alerts.`,
    category: "PATIENT_ENGAGEMENT",
    audience: "PATIENT",
    version: "2.0.8",
    glyph: "envelope",
    hue: 235,
    extensionPoints: ["patient-chart-panel", "patient-portal-menu", "cds:order-sign"],
    smartLaunchUrl: "https://pocketlark.example/path-postcards/launch",
    fhirScopes:
      "launch openid fhirUser patient/Patient.r patient/CarePlan.crus patient/Procedure.rs patient/Communication.c patient/QuestionnaireResponse.crs",
    featured: false,
    subscribers: 16,
    screenshotTitles: ["Cards and answers", "Travellers by journey"],
    publishedAt: "2024-10-29T09:15:00.000Z",
    updatedAt: "2026-02-03T10:20:00.000Z",
    configSchema: null,
    plans: [
      {
        name: "Three journeys",
        description: "Choose any three.",
        pricingModel: "FLAT",
        currency: "USD",
        amount: 9900,
        interval: "MONTH",
        trialDays: 30,
        features: ["3 journeys", "Unlimited patients", "Alerts"],
      },
      {
        name: "All journeys",
        description: "Everything, with the editor.",
        pricingModel: "FLAT",
        currency: "USD",
        amount: 26900,
        interval: "MONTH",
        features: ["45 journeys", "Journey editor", "Enrollment by order", "Email support"],
      },
    ],
  },
  {
    slug: "small-applause",
    vendor: "emberyard",
    name: "Small Applause",
    summary: "Two questions after each visit, answered by half your patients, and read by the people they praise.",
    description: `Small Applause asks two things: how was it, and what should we know? The answers go to the team within the hour. Praise reaches the person praised; problems reach the person who can mend them.

- Two questions by text, in the patient's language, an hour after the visit
- Themes found across comments: waiting, kindness, parking, explanations
- Names and details removed before a comment is shown to a wider circle
- A quiet channel for complaints, with an owner and a deadline
- A monthly page for the staff room, designed to be pinned up

### What we leave out

There are no public stars, no rankings of colleagues and no bonus formulas. Feedback works when people are not afraid of it. If you need a formal survey for a program, export the raw answers.`,
    category: "PATIENT_ENGAGEMENT",
    audience: "BACKEND",
    version: "1.6.3",
    glyph: "star",
    hue: 90,
    extensionPoints: ["global-nav", "settings"],
    smartLaunchUrl: null,
    fhirScopes: "system/Encounter.s system/Patient.r system/Communication.c",
    featured: false,
    subscribers: 28,
    screenshotTitles: ["Comments this week", "Themes", "Complaints to answer"],
    publishedAt: "2024-06-04T14:30:00.000Z",
    updatedAt: "2026-01-20T09:10:00.000Z",
    configSchema: null,
    plans: [
      {
        name: "Clap",
        description: "Free up to a hundred answers a month.",
        pricingModel: "FREE",
        currency: "USD",
        amount: 0,
        interval: null,
        features: ["100 answers", "Themes", "Monthly page"],
      },
      {
        name: "Ovation",
        description: "Unlimited answers for one site.",
        pricingModel: "FLAT",
        currency: "USD",
        amount: 4900,
        interval: "MONTH",
        trialDays: 14,
        features: ["Unlimited answers", "Complaint channel", "Exports", "Email support"],
      },
    ],
  },
];
