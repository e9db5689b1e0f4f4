import type { DemoApp } from "../demo-app.ts";

export const remoteCareApps: DemoApp[] = [
  {
    slug: "northwind-visits",
    vendor: "northwind-health",
    name: "Northwind Visits",
    summary: "Video visits that open from the schedule with one tap, and fall back to the phone when they must.",
    description: `Northwind Visits puts the video window beside the chart. Patients tap a link and are in the waiting room, with nothing to install; clinicians start from the appointment and never see a meeting number.

- A picture that stays usable on a weak connection, and sound that stays when the picture goes
- Waiting room with a check of camera and microphone, and a nurse's greeting
- Interpreter, family member or specialist invited with one click
- Screen sharing for results, with everything else hidden
- The visit type, length and consent noted for billing

### How it fits your day

The appointment panel shows who is waiting and for how long. If a patient cannot connect within three minutes, the app offers to call them by telephone and notes the change. Nothing is recorded.`,
    category: "REMOTE_CARE",
    audience: "CLINICIAN",
    version: "5.3.6",
    glyph: "video",
    hue: 180,
    extensionPoints: ["appointment-panel", "encounter-panel", "patient-portal-menu"],
    smartLaunchUrl: "https://northwind-health.example/visits/launch",
    fhirScopes: "launch openid fhirUser patient/Patient.r patient/Appointment.ru patient/Encounter.rus",
    featured: false,
    subscribers: 54,
    screenshotTitles: ["Connection quality", "Waiting room", "Chat during the visit"],
    publishedAt: "2023-04-25T09:05:00.000Z",
    updatedAt: "2026-09-26T14:40:00.000Z",
    configSchema: {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      properties: {
        phoneFallback: {
          type: "boolean",
          title: "Phone fallback",
          description: "Offer a telephone call when video fails for three minutes.",
          default: true,
        },
        waitingRoomGreeting: {
          type: "string",
          title: "Greeting",
          description: "Shown to patients in the waiting room.",
          maxLength: 200,
          default: "Welcome. Your care team will be with you shortly.",
        },
      },
      additionalProperties: false,
    },
    plans: [
      {
        name: "Clinician",
        description: "Priced by clinician, with unlimited visits.",
        pricingModel: "PER_UNIT",
        currency: "USD",
        amount: 2900,
        interval: "MONTH",
        trialDays: 14,
        unitName: "clinician",
        features: ["Unlimited visits", "Waiting room", "Phone fallback"],
      },
      {
        name: "By the visit",
        description: "For the occasional video visit.",
        pricingModel: "USAGE",
        currency: "USD",
        amount: 120,
        interval: "MONTH",
        metric: "video_visits",
        aggregation: "COUNT",
        includedUnits: 5,
        features: ["5 visits included", "Any number of clinicians"],
      },
      {
        name: "House call",
        description: "One clinician, ten visits a month, free.",
        pricingModel: "FREE",
        currency: "USD",
        amount: 0,
        interval: null,
        features: ["1 clinician", "10 visits a month"],
      },
    ],
  },
  {
    slug: "cuffline",
    vendor: "kestrelway",
    name: "Cuffline",
    summary: "Home blood pressure that reaches the chart by itself, with averages you can act on.",
    description: `Cuffline ships a cellular cuff to the patient's home. They press one button; the reading is in the chart half a minute later, without a phone, an app or a password.

- Averages by week and by time of day, instead of a heap of numbers
- Readings repeated automatically when the first one looks wrong
- A call list for the nurse: too high, too low, too quiet
- Titration protocols you approve once and the pharmacist can follow
- Monitoring days and minutes counted for billing

### Before you install

Decide who answers the call list and when; patients are told in writing that readings are not watched at night. Cuffs arrive within three days, in two sizes, and can be returned in the box they came in.`,
    category: "REMOTE_CARE",
    audience: "CLINICIAN",
    version: "4.5.1",
    glyph: "gauge",
    hue: 0,
    extensionPoints: ["patient-chart-tab", "patient-chart-panel", "global-nav", "cds:patient-view"],
    smartLaunchUrl: "https://kestrelway.example/cuffline/launch",
    fhirScopes:
      "launch openid fhirUser user/Patient.rs user/Observation.crs user/Device.crus user/DeviceRequest.crs user/CarePlan.rs user/Task.crus",
    featured: true,
    subscribers: 43,
    screenshotTitles: ["Home blood pressure", "Calls for today", "A message to the nurse"],
    publishedAt: "2023-12-12T08:25:00.000Z",
    updatedAt: "2026-10-14T10:50:00.000Z",
    configSchema: {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      properties: {
        systolicHigh: {
          type: "integer",
          title: "Call when systolic is above",
          description: "Weekly average in mmHg.",
          minimum: 120,
          maximum: 200,
          default: 145,
        },
        quietDays: {
          type: "integer",
          title: "Call after days without a reading",
          description: "Patients who fall silent appear on the call list.",
          minimum: 2,
          maximum: 14,
          default: 5,
        },
        shippingKey: {
          type: "string",
          title: "Shipping account key",
          description: "Only if cuffs go out from your own stock. Never shown again.",
          writeOnly: true,
        },
      },
      additionalProperties: false,
    },
    plans: [
      {
        name: "By monitored patient",
        description: "The cuff is included; the price falls as your program grows.",
        pricingModel: "TIERED",
        currency: "USD",
        amount: null,
        interval: "MONTH",
        unitName: "monitored patient",
        tierMode: "GRADUATED",
        tiers: [
          { upTo: 25, unitAmount: 1900, flatAmount: 0 },
          { upTo: 200, unitAmount: 1500, flatAmount: 0 },
          { upTo: null, unitAmount: 1150, flatAmount: 0 },
        ],
        features: ["Cellular cuff", "Call list", "Billing counts"],
      },
      {
        name: "Bring your own cuff",
        description: "For patients who own a connected cuff.",
        pricingModel: "USAGE",
        currency: "USD",
        amount: 400,
        interval: "MONTH",
        trialDays: 30,
        metric: "monitored_patients",
        aggregation: "MAX",
        includedUnits: 5,
        features: ["5 patients included", "Call list", "Billing counts"],
      },
    ],
  },
  {
    slug: "slumber-log",
    vendor: "edelgrat",
    name: "Slumber Log",
    summary: "Nights of therapy at a glance: mask leaks, hours of use and who needs help before they give up.",
    description: `Slumber Log gathers nightly data from sleep-therapy devices of several makers and draws it in one calm view. It notices in the first two weeks who is struggling, when help still changes the outcome.

- Hours of use, leaks and residual events, night by night
- A first-fortnight list: who is likely to stop, and what usually helps
- Coaching messages about masks, humidity and partners who snore
- Reports for insurers in the form they insist on
- A sleep diary for patients without a device

### Data protection

Device makers are connected with the patient's consent, which can be withdrawn in the portal. Data is processed in the European Union and deleted thirty days after therapy ends, unless the clinic has a reason to keep it.`,
    category: "REMOTE_CARE",
    audience: "CLINICIAN",
    version: "1.1.2",
    glyph: "moon",
    hue: 290,
    extensionPoints: ["patient-chart-tab", "patient-portal-menu"],
    smartLaunchUrl: "https://edelgrat.example/slumber-log/launch",
    fhirScopes:
      "launch openid fhirUser patient/Patient.r patient/Observation.crs patient/Device.rs patient/Consent.rs patient/Communication.c",
    featured: false,
    subscribers: 4,
    screenshotTitles: ["Nights of therapy", "First fortnight"],
    publishedAt: "2025-09-09T18:00:00.000Z",
    updatedAt: "2026-07-16T07:40:00.000Z",
    configSchema: null,
    plans: [
      {
        name: "By patient",
        description: "Priced by patient on therapy.",
        pricingModel: "PER_UNIT",
        currency: "EUR",
        amount: 390,
        interval: "MONTH",
        trialDays: 30,
        unitName: "patient on therapy",
        includedUnits: 10,
        features: ["All device makers", "First-fortnight list", "Insurer reports"],
      },
      {
        name: "Sleep laboratory",
        description: "A yearly price for a laboratory.",
        pricingModel: "FLAT",
        currency: "EUR",
        amount: 590000,
        interval: "YEAR",
        features: ["Unlimited patients", "Own coaching texts", "Sleep diary", "Phone support"],
      },
    ],
  },
  {
    slug: "pasos-a-casa",
    vendor: "penasol",
    name: "Pasos a Casa",
    summary: "Home exercise after injury or stroke, with short films, gentle counting and honest progress.",
    description: `Pasos a Casa takes the exercise sheet off the refrigerator and makes it move. Therapists put together a program in two minutes; patients follow short films in Spanish or English and count repetitions with a tap or with the camera.

- Seven hundred exercises, filmed with people of all ages and bodies
- Camera counting that runs on the phone; the picture never leaves it
- Pain and effort asked in one question, and passed on if they rise
- Steps per day from the phone, if the patient wishes
- Progress written to the chart once a week, on half a page

### New this autumn

This is our first year. We answer every message within a working day, publish what we are building next, and keep the plan for small clinics free while we learn from you.`,
    category: "REMOTE_CARE",
    audience: "PATIENT",
    version: "0.6.0",
    glyph: "footprints",
    hue: 100,
    extensionPoints: ["patient-chart-panel", "patient-portal-menu", "encounter-panel"],
    smartLaunchUrl: "https://penasol.example/pasos-a-casa/launch",
    fhirScopes:
      "launch openid fhirUser patient/Patient.r patient/CarePlan.crus patient/Observation.crs patient/QuestionnaireResponse.c",
    featured: false,
    subscribers: 1,
    screenshotTitles: ["Steps and effort", "Programs to adjust", "A question from home"],
    publishedAt: "2026-09-01T13:10:00.000Z",
    updatedAt: "2026-10-21T16:35:00.000Z",
    configSchema: null,
    plans: [
      {
        name: "Primeros pasos",
        description: "Free for up to fifteen active patients.",
        pricingModel: "FREE",
        currency: "USD",
        amount: 0,
        interval: null,
        features: ["15 active patients", "All films", "Weekly progress"],
      },
      {
        name: "Camino",
        description: "Pay for the sessions your patients complete.",
        pricingModel: "USAGE",
        currency: "USD",
        amount: "14.5",
        interval: "MONTH",
        metric: "exercise_sessions_completed",
        aggregation: "COUNT",
        includedUnits: 150,
        features: ["150 sessions included", "Camera counting", "Own films"],
      },
    ],
  },
];
