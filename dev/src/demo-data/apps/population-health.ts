import type { DemoApp } from "../demo-app.ts";

export const populationHealthApps: DemoApp[] = [
  {
    slug: "mossgate-registries",
    vendor: "mossgate",
    name: "Mossgate Registries",
    summary: "Living registries for diabetes, asthma, kidney disease and more, rebuilt from the chart each night.",
    description: `Mossgate Registries answers a question that charts are bad at: how are all of my patients with this condition doing? It builds a registry for each condition you care about, and shows the few people who need something this week.

- Twenty-two ready-made registries, with definitions you can read and adapt
- Measures with numerator, denominator and exclusions, down to the patient
- Cohorts by drag and drop: overdue for an eye exam *and* coming in on Thursday
- Trends by provider, site and payer, with honest confidence bands
- Exports in the formats quality programs ask for

### How it fits your day

A nurse opens the Monday list, sends the overdue reminders in one go and hands the difficult calls to the care manager. The dashboards are for the quarterly meeting; the list is for everyone else.`,
    category: "POPULATION_HEALTH",
    audience: "CLINICIAN",
    version: "6.3.1",
    glyph: "chart",
    hue: 155,
    extensionPoints: ["global-nav", "patient-chart-panel", "cds:patient-view"],
    smartLaunchUrl: "https://mossgate.example/registries/launch",
    fhirScopes:
      "launch openid fhirUser system/Patient.rs system/Condition.rs system/Observation.rs system/MedicationRequest.rs system/Procedure.rs system/Group.rs",
    featured: true,
    subscribers: 44,
    screenshotTitles: ["Diabetes registry", "Overdue this week", "Outreach board"],
    publishedAt: "2023-04-04T12:00:00.000Z",
    updatedAt: "2026-10-15T09:50:00.000Z",
    configSchema: {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      properties: {
        registries: {
          type: "array",
          title: "Registries",
          description: "Which registries to build each night.",
          items: {
            type: "string",
            enum: ["diabetes", "hypertension", "asthma", "copd", "ckd", "heart-failure", "depression"],
          },
          uniqueItems: true,
          maxItems: 7,
          default: ["diabetes", "hypertension"],
        },
        weekStartsOn: {
          type: "string",
          title: "Weekly list on",
          description: "The day on which the outreach list is refreshed.",
          enum: ["monday", "tuesday", "wednesday", "thursday", "friday"],
          default: "monday",
        },
      },
      additionalProperties: false,
    },
    plans: [
      {
        name: "By attributed patient",
        description: "A few cents per patient, fewer as your panel grows.",
        pricingModel: "TIERED",
        currency: "USD",
        amount: null,
        interval: "MONTH",
        trialDays: 30,
        unitName: "attributed patient",
        tierMode: "GRADUATED",
        tiers: [
          { upTo: 2000, unitAmount: 9, flatAmount: 0 },
          { upTo: 20000, unitAmount: "5.5", flatAmount: 0 },
          { upTo: null, unitAmount: "2.75", flatAmount: 0 },
        ],
        features: ["All registries", "Outreach lists", "Quality exports"],
      },
      {
        name: "Starter registry",
        description: "One registry for one practice.",
        pricingModel: "FLAT",
        currency: "USD",
        amount: 5900,
        interval: "MONTH",
        features: ["1 registry", "Weekly list", "Email support"],
      },
    ],
  },
  {
    slug: "loose-ends",
    vendor: "thornwick",
    name: "Loose Ends",
    summary: "A short list of open care gaps for the patient in front of you, each closable in one step.",
    description: `Loose Ends does not nag. It shows at most five gaps for each patient, ranked by benefit, and puts the order, the referral or the sentence that closes each one right beside it.

- Screening, vaccination, monitoring and follow-up gaps from national guidance
- One-step closing, with the evidence recorded where auditors look for it
- "Not today" and "not for this patient", with a reason that is remembered
- External results counted once they have been confirmed by a person
- A weekly note on what the practice has closed, for morale

### What it leaves out

Gaps that nobody in your practice can close are hidden by default. So are those that would bring a patient in for nothing else within two weeks of a planned visit.`,
    category: "POPULATION_HEALTH",
    audience: "CLINICIAN",
    version: "2.3.2",
    glyph: "target",
    hue: 240,
    extensionPoints: ["patient-chart-panel", "encounter-panel", "cds:patient-view", "cds:encounter-start"],
    smartLaunchUrl: "https://thornwick.example/loose-ends/launch",
    fhirScopes:
      "launch openid fhirUser patient/Patient.r patient/Condition.rs patient/Observation.rs patient/Immunization.rs patient/Procedure.rs patient/ServiceRequest.crs",
    featured: false,
    subscribers: 31,
    screenshotTitles: ["Closed this month", "Gaps for today's visits"],
    publishedAt: "2024-03-12T09:25:00.000Z",
    updatedAt: "2026-06-02T15:35:00.000Z",
    configSchema: null,
    plans: [
      {
        name: "Primary care",
        description: "Priced by primary-care clinician.",
        pricingModel: "PER_UNIT",
        currency: "USD",
        amount: 3400,
        interval: "MONTH",
        trialDays: 30,
        unitName: "clinician",
        features: ["All guidance", "One-step closing", "Weekly note"],
      },
      {
        name: "Primary care, yearly",
        description: "Ten months' price for twelve.",
        pricingModel: "PER_UNIT",
        currency: "USD",
        amount: 34000,
        interval: "YEAR",
        unitName: "clinician",
        features: ["All guidance", "One-step closing", "Payer gap files", "Phone support"],
      },
    ],
  },
  {
    slug: "vaccine-vane",
    vendor: "gullhaven",
    name: "Vaccine Vane",
    summary: "Forecasts who is due for which vaccine, invites them kindly and plans clinics around the answer.",
    description: `Vaccine Vane reads immunization histories, applies the current schedule, and tells you which way the wind blows: how many flu, shingles and school-entry doses you will need, when, and for whom.

- Forecasts by age group and vaccine, six to twenty weeks ahead
- Invitations by text or letter, in the patient's language, with a booking link
- Catch-up schedules for children who started late or elsewhere
- Clinic plans: chairs, staff and doses for a Saturday that works
- Updates from the state registry merged and de-duplicated each night

### Before you install

Have your registry credentials at hand and check that your stock list is current. We suggest a small campaign first, such as shingles for people turning sixty-five, before the autumn rush.`,
    category: "POPULATION_HEALTH",
    audience: "BACKEND",
    version: "3.6.0",
    glyph: "syringe",
    hue: 35,
    extensionPoints: ["global-nav", "settings"],
    smartLaunchUrl: null,
    fhirScopes:
      "system/Patient.rs system/Immunization.rs system/ImmunizationRecommendation.crs system/Appointment.s system/Communication.c",
    featured: false,
    subscribers: 24,
    screenshotTitles: ["Doses this season", "Invitations to send"],
    publishedAt: "2023-08-29T07:30:00.000Z",
    updatedAt: "2026-09-08T13:40:00.000Z",
    configSchema: null,
    plans: [
      {
        name: "Forecast",
        description: "Forecasts and catch-up schedules, free.",
        pricingModel: "FREE",
        currency: "USD",
        amount: 0,
        interval: null,
        features: ["Forecasts", "Catch-up schedules", "Registry merge"],
      },
      {
        name: "Invite",
        description: "Pay for the invitations you send.",
        pricingModel: "USAGE",
        currency: "USD",
        amount: "3.5",
        interval: "MONTH",
        metric: "invitations_sent",
        aggregation: "COUNT",
        includedUnits: 200,
        features: ["200 invitations included", "Booking links", "Clinic plans"],
      },
    ],
  },
  {
    slug: "neighborhood-lens",
    vendor: "fernhollow",
    name: "Neighborhood Lens",
    summary: "Maps where asthma, falls and missed visits cluster, and what the streets have in common.",
    description: `Neighborhood Lens places your patients' needs on a map, in groups large enough that no one can be recognized, and lays public data over it: bus lines, heat, food shops, pavements, damp housing.

- Clusters that survive a statistician's questions, with their uncertainty shown
- Overlays from census, transport, climate and housing sources
- A brief for partners in plain words, with the map and without the jargon
- Before-and-after views when a service opens or a bus line closes
- Small groups are suppressed, always, by rule rather than by care

### Who uses it

Community health teams, public health officers and practices that want to know why the third Tuesday clinic is always half empty. No special training is needed; the guided tour takes twelve minutes.`,
    category: "POPULATION_HEALTH",
    audience: "CLINICIAN",
    version: "0.9.4",
    glyph: "map-pin",
    hue: 325,
    extensionPoints: ["global-nav"],
    smartLaunchUrl: "https://fernhollow.example/neighborhood-lens/launch",
    fhirScopes: "launch openid fhirUser system/Patient.s system/Condition.s system/Appointment.s",
    featured: false,
    subscribers: 2,
    screenshotTitles: ["Missed visits by district"],
    publishedAt: "2026-01-27T10:45:00.000Z",
    updatedAt: "2026-10-01T16:10:00.000Z",
    configSchema: null,
    plans: [
      {
        name: "Practice",
        description: "One map, refreshed each month.",
        pricingModel: "FLAT",
        currency: "USD",
        amount: 7900,
        interval: "MONTH",
        trialDays: 14,
        features: ["1 catchment area", "All overlays", "Partner briefs"],
      },
      {
        name: "Public health",
        description: "A yearly price for counties and networks.",
        pricingModel: "FLAT",
        currency: "USD",
        amount: 1800000,
        interval: "YEAR",
        features: ["Unlimited areas", "Before-and-after views", "Own overlays", "Analyst hours"],
      },
    ],
  },
];
