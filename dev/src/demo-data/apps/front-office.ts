import type { DemoApp } from "../demo-app.ts";

export const frontOfficeApps: DemoApp[] = [
  {
    slug: "lumen-schedule",
    vendor: "lumen-medical",
    name: "Lumen Schedule",
    summary: "Online booking that respects your visit types, buffers and the way each provider likes to work.",
    description: `Lumen Schedule lets patients book the right visit, with the right provider, for the right length of time, without a phone call and without surprises for the front desk.

- Turns each provider's rules ("no new patients after 3 pm") into bookable slots
- Asks two or three questions to choose the visit type, so that follow-ups never land in a physical
- Holds a slot for ten minutes while the patient finishes the form
- Moves whole sessions at once when a provider is out, and offers patients three alternatives
- Shows unused slots by day, so that you can see where the week leaks

### How it fits your day

The front desk keeps working in the calendar it knows. Online bookings appear there at once, marked with a small lamp, and can be moved or cancelled like any other appointment. Most practices start with one visit type and add the rest after a week or two.`,
    category: "FRONT_OFFICE",
    audience: "BACKEND",
    version: "5.2.1",
    glyph: "calendar",
    hue: 255,
    extensionPoints: ["global-nav", "appointment-panel", "patient-portal-menu", "cds:appointment-book"],
    smartLaunchUrl: null,
    fhirScopes: "system/Appointment.cruds system/Slot.rs system/Schedule.rs system/Practitioner.rs system/Patient.rs",
    featured: false,
    subscribers: 57,
    screenshotTitles: ["Today's schedule", "Requests to confirm", "Filled slots"],
    publishedAt: "2023-03-14T09:30:00.000Z",
    updatedAt: "2026-09-22T14:05:00.000Z",
    configSchema: {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      properties: {
        minimumNoticeHours: {
          type: "integer",
          title: "Minimum notice (hours)",
          description: "How long before a visit patients may still book online.",
          minimum: 0,
          maximum: 168,
          default: 4,
        },
        allowNewPatients: {
          type: "boolean",
          title: "New patients may book",
          description: "Let people without a chart request a first visit.",
          default: true,
        },
      },
      additionalProperties: false,
    },
    plans: [
      {
        name: "Practice",
        description: "Everything a practice needs, priced by the providers who can be booked.",
        pricingModel: "PER_UNIT",
        currency: "USD",
        amount: 3900,
        interval: "MONTH",
        trialDays: 30,
        unitName: "provider",
        features: ["Unlimited bookings", "Booking rules per provider", "Session moves", "Email support"],
      },
      {
        name: "Practice, yearly",
        description: "The same with two months free.",
        pricingModel: "PER_UNIT",
        currency: "USD",
        amount: 39000,
        interval: "YEAR",
        unitName: "provider",
        features: ["Unlimited bookings", "Booking rules per provider", "Phone support"],
      },
      {
        name: "Group",
        description: "For groups with several sites; the price per provider falls as you grow.",
        pricingModel: "TIERED",
        currency: "USD",
        amount: null,
        interval: "MONTH",
        unitName: "provider",
        tierMode: "VOLUME",
        tiers: [
          { upTo: 20, unitAmount: 3500, flatAmount: 0 },
          { upTo: 60, unitAmount: 2900, flatAmount: 0 },
          { upTo: null, unitAmount: 2300, flatAmount: 0 },
        ],
        features: ["Everything in Practice", "Several sites", "Shared waiting lists", "Named contact"],
      },
    ],
  },
  {
    slug: "cafe-intake",
    vendor: "pocketlark",
    name: "Café Intake",
    summary: "Friendly pre-visit forms that patients finish on their phone before the coffee is cold.",
    description: `Café Intake replaces the clipboard. Two days before a visit, patients receive a short, friendly questionnaire that already knows what the chart knows, and asks only for what is missing or out of date.

- One question per screen, readable in bright sunlight and by large thumbs
- Medication and allergy lists to confirm rather than retype
- Photographs of the insurance card, front and back, checked for sharpness
- Consent forms with signature, in eleven languages
- A tidy summary for the medical assistant to accept line by line

### Before you install

Choose which of your paper forms to bring over first; our team will rebuild up to five of them with you at no charge. Nothing a patient enters reaches the chart until someone in your practice has accepted it.`,
    category: "FRONT_OFFICE",
    audience: "PATIENT",
    version: "3.8.0",
    glyph: "cup",
    hue: 45,
    extensionPoints: ["patient-portal-menu", "appointment-panel", "encounter-panel"],
    smartLaunchUrl: "https://pocketlark.example/cafe-intake/launch",
    fhirScopes:
      "launch openid fhirUser patient/Patient.ru patient/QuestionnaireResponse.crs patient/AllergyIntolerance.rs patient/MedicationStatement.rs patient/Coverage.rs patient/Consent.c",
    featured: true,
    subscribers: 53,
    screenshotTitles: ["Arrivals and their forms", "Answers to accept", "Completion before the visit"],
    publishedAt: "2023-06-20T13:00:00.000Z",
    updatedAt: "2026-10-06T08:45:00.000Z",
    configSchema: null,
    plans: [
      {
        name: "Espresso",
        description: "Try it with a single form.",
        pricingModel: "FREE",
        currency: "USD",
        amount: 0,
        interval: null,
        features: ["1 form", "50 intakes a month", "English and Spanish"],
      },
      {
        name: "House blend",
        description:
          "Pay for the intakes that patients complete; the first hundred of a month are covered by the base fee.",
        pricingModel: "TIERED",
        currency: "USD",
        amount: null,
        interval: "MONTH",
        trialDays: 14,
        unitName: "completed intake",
        tierMode: "GRADUATED",
        tiers: [
          { upTo: 100, unitAmount: 0, flatAmount: 4900 },
          { upTo: 1000, unitAmount: 35, flatAmount: 0 },
          { upTo: null, unitAmount: 22, flatAmount: 0 },
        ],
        features: ["Unlimited forms", "All eleven languages", "Insurance card capture", "Form migration"],
      },
    ],
  },
  {
    slug: "waitlist-wren",
    vendor: "sundial-row",
    name: "Waitlist Wren",
    summary: "Offers every cancelled slot to the patients who are waiting for it, one polite text at a time.",
    description: `A cancellation at eight in the morning used to mean a hole in the day. Waitlist Wren notices it, works out who would be glad of it, and offers it to them in turn until someone says yes.

- Ranks the waiting list by urgency, distance and how long each patient has waited
- Sends one offer at a time, so that nobody loses a race
- Understands "yes please", "too far" and "not Tuesdays", and remembers
- Leaves quiet hours alone and stops two hours before the slot
- Reports the minutes it has won back for each provider

### What it costs when nothing happens

Nothing. You pay for slots that were filled and kept, never for offers that went unanswered. Setting the ranking up takes about a quarter of an hour.`,
    category: "FRONT_OFFICE",
    audience: "BACKEND",
    version: "2.4.3",
    glyph: "hourglass",
    hue: 160,
    extensionPoints: ["appointment-panel", "global-nav", "settings"],
    smartLaunchUrl: null,
    fhirScopes: "system/Appointment.rus system/Slot.rs system/Patient.r system/Communication.c",
    featured: false,
    subscribers: 19,
    screenshotTitles: ["Slots won back", "Patients waiting"],
    publishedAt: "2024-05-07T10:15:00.000Z",
    updatedAt: "2026-06-11T16:20:00.000Z",
    configSchema: null,
    plans: [
      {
        name: "Per filled slot",
        description: "Billed for each offered slot that a patient accepted and kept.",
        pricingModel: "USAGE",
        currency: "USD",
        amount: 250,
        interval: "MONTH",
        metric: "slots_filled",
        aggregation: "COUNT",
        includedUnits: 5,
        features: ["5 filled slots a month included", "Text and email offers", "Weekly report"],
      },
      {
        name: "All you can fill",
        description: "A fixed price for busy sites.",
        pricingModel: "FLAT",
        currency: "USD",
        amount: 18900,
        interval: "MONTH",
        trialDays: 30,
        features: ["Unlimited filled slots", "Ranking rules per specialty", "Priority support"],
      },
    ],
  },
  {
    slug: "threshold-kiosk",
    vendor: "emberyard",
    name: "Threshold Kiosk",
    summary: "Self check-in for any tablet: confirm details, sign, pay the copay and take a seat.",
    description: `Threshold Kiosk turns an ordinary tablet into a calm, accessible check-in desk. Patients identify themselves with a birth date and the first letters of their name, confirm what is on file, and are marked as arrived.

- Large type, high contrast and screen reader support, tested with patients over eighty
- Signature capture for the forms that must be signed on the day
- Directions to the right waiting area, with a map if the building deserves one
- Clears the screen after twenty seconds without a touch
- Keeps working through a short network outage and catches up afterwards

### Hardware

Bring your own tablets; anything bought in the last five years will do. We also ship a wipe-clean stand with a lock and a privacy film, which fits most reception counters without drilling.`,
    category: "FRONT_OFFICE",
    audience: "BACKEND",
    version: "4.0.2",
    glyph: "door",
    hue: 315,
    extensionPoints: ["appointment-panel", "settings"],
    smartLaunchUrl: null,
    fhirScopes: "system/Appointment.rus system/Patient.rus system/Consent.c system/Location.rs",
    featured: false,
    subscribers: 33,
    screenshotTitles: ["Expected this morning", "Arrived and waiting"],
    publishedAt: "2023-10-03T08:00:00.000Z",
    updatedAt: "2026-03-19T11:40:00.000Z",
    configSchema: null,
    plans: [
      {
        name: "One site",
        description: "As many tablets as your reception can hold.",
        pricingModel: "FLAT",
        currency: "USD",
        amount: 108000,
        interval: "YEAR",
        trialDays: 30,
        features: ["Unlimited tablets", "Signature capture", "Offline check-in"],
      },
      {
        name: "Per tablet",
        description: "For small practices that need one or two.",
        pricingModel: "PER_UNIT",
        currency: "USD",
        amount: 2900,
        interval: "MONTH",
        unitName: "tablet",
        features: ["Signature capture", "Email support"],
      },
    ],
  },
];
