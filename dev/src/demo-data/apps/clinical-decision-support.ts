import type { DemoApp } from "../demo-app.ts";

export const clinicalDecisionSupportApps: DemoApp[] = [
  {
    slug: "renal-rudder",
    vendor: "tarnbrook",
    name: "Renal Rudder",
    summary: "Doses that follow the kidneys: adjustments offered at ordering, with the trend that explains them.",
    description: `Renal Rudder watches kidney function behind every order. When a dose should be lower, further apart or something else entirely, it says so before you sign, with the last values and their direction on a small curve.

- More than four hundred drugs, with sources and the date of the last review
- Works with measured or estimated function, and tells you which it used
- Notices a fall in function after the order and brings the drug back to mind
- Dialysis timing for the drugs that need it
- One card per order at most, with the adjusted dose ready to accept

### How it decides

Rules are plain tables that your pharmacists can open, discuss and override for your organization. Each override carries a name and a reason. Nothing is learned from patient data, and no data leaves the request.`,
    category: "CLINICAL_DECISION_SUPPORT",
    audience: "CLINICIAN",
    version: "3.3.3",
    glyph: "kidney",
    hue: 10,
    extensionPoints: ["encounter-panel", "cds:order-select", "cds:order-sign"],
    smartLaunchUrl: "https://tarnbrook.example/renal-rudder/launch",
    fhirScopes:
      "launch openid fhirUser patient/Patient.r patient/MedicationRequest.rs patient/Observation.rs?category=http://terminology.hl7.org/CodeSystem/observation-category|laboratory",
    featured: false,
    subscribers: 32,
    screenshotTitles: ["Dose suggestion", "Kidney function over time"],
    publishedAt: "2023-07-11T11:30:00.000Z",
    updatedAt: "2026-08-20T15:00:00.000Z",
    configSchema: {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      properties: {
        equation: {
          type: "string",
          title: "Estimating equation",
          description: "Used when no measured clearance is on file.",
          enum: ["ckd-epi-2021", "cockcroft-gault", "schwartz"],
          default: "ckd-epi-2021",
        },
        alertBelow: {
          type: "integer",
          title: "Advise below (mL/min)",
          description: "No card is shown above this value.",
          minimum: 15,
          maximum: 90,
          default: 60,
        },
      },
      additionalProperties: false,
    },
    plans: [
      {
        name: "Practice",
        description: "A flat price for one practice.",
        pricingModel: "FLAT",
        currency: "USD",
        amount: 5900,
        interval: "MONTH",
        trialDays: 30,
        features: ["All drugs", "Trend curves", "Quarterly review"],
      },
      {
        name: "Hospital",
        description: "A yearly price per staffed bed.",
        pricingModel: "PER_UNIT",
        currency: "USD",
        amount: 4800,
        interval: "YEAR",
        unitName: "bed",
        features: ["Local overrides", "Dialysis timing", "Pharmacist queue", "Service level"],
      },
    ],
  },
  {
    slug: "ten-year-heart",
    vendor: "thornwick",
    name: "Ten-Year Heart",
    summary: "Cardiovascular risk from the chart, shown as a hundred little people you can discuss together.",
    description: `Ten-Year Heart fills in the risk equation from the chart and draws the answer in a way that patients grasp: a hundred small figures, some of them coloured, and what happens to the colours if one thing changes.

- Three equations side by side, with the one your guideline prefers in front
- Missing values asked for, never assumed without saying so
- What-if sliders for smoking, pressure, statins and exercise
- A hand-out with the picture, the numbers and your joint decision
- The decision recorded in the note, in one sentence

### Why it is free

The equations are public and so is our code list. We think a calculation that every clinic needs should not cost anything, and it introduces you to the rest of our work. Individual data is neither stored nor sent to us.`,
    category: "CLINICAL_DECISION_SUPPORT",
    audience: "CLINICIAN",
    version: "4.2.0",
    glyph: "heart",
    hue: 350,
    extensionPoints: ["patient-chart-panel", "encounter-panel", "cds:patient-view"],
    smartLaunchUrl: "https://thornwick.example/ten-year-heart/launch",
    fhirScopes:
      "launch openid fhirUser patient/Patient.r patient/Observation.rs patient/Condition.rs patient/MedicationStatement.rs",
    featured: false,
    subscribers: 52,
    screenshotTitles: ["A hundred people like you", "Pressure and lipids over time"],
    publishedAt: "2023-06-27T10:20:00.000Z",
    updatedAt: "2026-04-21T14:45:00.000Z",
    configSchema: null,
    plans: [
      {
        name: "Free",
        description: "Everything, for everyone.",
        pricingModel: "FREE",
        currency: "USD",
        amount: 0,
        interval: null,
        features: ["All equations", "What-if sliders", "Hand-outs", "Community support"],
      },
    ],
  },
  {
    slug: "northwind-watch",
    vendor: "northwind-health",
    name: "Northwind Watch",
    summary: "Early warning for wards: sees a patient drifting hours ahead and asks the right nurse to look.",
    description: `Northwind Watch follows vital signs and labs on the ward and recognizes the slow drift that precedes a bad night. Rather than one more alarm it sends one clear request to the nurse responsible: please look, and here is why.

- A score every fifteen minutes from values already in the chart
- The three values that moved it most, drawn over the last day
- Escalation that follows your own policy if nobody has looked
- Thresholds by ward, tuned with you to a bearable number of alerts
- Each alert reviewed afterwards: helpful, early, late or needless

### Before you install

Watch needs vital signs at least every four hours. We begin with two silent weeks in which nothing is sent, so that you can see which alerts there would have been. It supports clinical judgement and does not replace observation.`,
    category: "CLINICAL_DECISION_SUPPORT",
    audience: "CLINICIAN",
    version: "2.4.7",
    glyph: "radar",
    hue: 210,
    extensionPoints: ["global-nav", "patient-chart-panel", "cds:patient-view"],
    smartLaunchUrl: "https://northwind-health.example/watch/launch",
    fhirScopes:
      "launch openid fhirUser system/Patient.rs system/Encounter.rs system/Location.rs system/Observation.rs system/Task.crus",
    featured: false,
    subscribers: 18,
    screenshotTitles: ["Please look", "Drift over a day", "Alerts reviewed"],
    publishedAt: "2024-09-03T07:15:00.000Z",
    updatedAt: "2026-10-05T13:30:00.000Z",
    configSchema: {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      properties: {
        sensitivity: {
          type: "string",
          title: "Sensitivity",
          description: "Earlier alerts mean more of them.",
          enum: ["calm", "balanced", "early"],
          default: "balanced",
        },
        escalateAfterMinutes: {
          type: "integer",
          title: "Escalate after (minutes)",
          description: "When nobody has looked, the charge nurse is asked.",
          minimum: 10,
          maximum: 120,
          default: 30,
        },
      },
      additionalProperties: false,
    },
    plans: [
      {
        name: "By bed",
        description: "A price per monitored bed that falls with size.",
        pricingModel: "TIERED",
        currency: "USD",
        amount: null,
        interval: "MONTH",
        unitName: "bed",
        tierMode: "VOLUME",
        tiers: [
          { upTo: 40, unitAmount: 1800, flatAmount: 0 },
          { upTo: 200, unitAmount: 1400, flatAmount: 0 },
          { upTo: null, unitAmount: 1050, flatAmount: 0 },
        ],
        features: ["Tuning with your team", "Escalation", "Alert review"],
      },
      {
        name: "One ward",
        description: "A fixed price to begin with.",
        pricingModel: "FLAT",
        currency: "USD",
        amount: 49000,
        interval: "MONTH",
        trialDays: 30,
        features: ["Up to 32 beds", "Two silent weeks", "Escalation"],
      },
    ],
  },
  {
    slug: "antibiotic-almanac",
    vendor: "fernhollow",
    name: "Antibiotic Almanac",
    summary: "The narrowest drug that works, from your local resistance data, at the moment you prescribe.",
    description: `Antibiotic Almanac combines your guideline with what grew in your own region last year. Choose an antibiotic and it tells you, in one line, whether something narrower, shorter or cheaper would do as well.

- First choice, dose and duration by syndrome, age and allergy
- Local susceptibility with sample sizes, refreshed each season
- Allergy labels questioned: a rash in childhood is rarely an allergy
- A reminder on day three, when the culture is back and the drug can change
- Feedback by prescriber, compared with peers and shown to them alone

### How it fits your day

Agree and nothing changes; disagree with one word and carry on. Stewardship teams see where the guideline and practice part ways, which is sometimes the guideline's fault, and can correct the table the same day.`,
    category: "CLINICAL_DECISION_SUPPORT",
    audience: "CLINICIAN",
    version: "3.0.9",
    glyph: "microbe",
    hue: 130,
    extensionPoints: ["encounter-panel", "cds:order-select"],
    smartLaunchUrl: "https://fernhollow.example/antibiotic-almanac/launch",
    fhirScopes:
      "launch openid fhirUser patient/Patient.r patient/AllergyIntolerance.rs patient/Condition.rs patient/MedicationRequest.rs patient/DiagnosticReport.rs patient/Observation.rs",
    featured: true,
    subscribers: 38,
    screenshotTitles: ["A narrower choice", "Resistance over time", "Feedback by syndrome"],
    publishedAt: "2023-11-07T12:40:00.000Z",
    updatedAt: "2026-10-26T09:30:00.000Z",
    configSchema: null,
    plans: [
      {
        name: "Prescriber",
        description: "Priced by prescriber.",
        pricingModel: "PER_UNIT",
        currency: "USD",
        amount: 1400,
        interval: "MONTH",
        trialDays: 30,
        unitName: "prescriber",
        features: ["All syndromes", "Regional data", "Personal feedback"],
      },
      {
        name: "Stewardship",
        description: "Billed by the orders that are checked.",
        pricingModel: "USAGE",
        currency: "USD",
        amount: "7.5",
        interval: "MONTH",
        metric: "antibiotic_orders_checked",
        aggregation: "COUNT",
        includedUnits: 1000,
        features: ["1,000 orders included", "Your own data", "Guideline editor", "Team reports"],
      },
    ],
  },
];
