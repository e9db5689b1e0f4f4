import type { DemoApp } from "../demo-app.ts";

export const financialApps: DemoApp[] = [
  {
    slug: "tallowmere-claims",
    vendor: "tallowmere",
    name: "Tallowmere Claims",
    summary: "Checks every claim against payer rules overnight and explains each problem in one plain sentence.",
    description: `Tallowmere Claims reads the day's charges each evening and tests them against the rules of the payers you bill. In the morning your billers find a short list, sorted by money at stake, with the reason for each finding and a link to the line that causes it.

- More than nine thousand edits, refreshed every second week
- Missing modifiers, mismatched diagnoses and expired authorizations
- Rules of your own, written in a small form rather than in code
- A record of who changed what, and which finding prompted it
- First-pass acceptance by payer, provider and location

### Before you install

You need the submitter number of your clearinghouse and a key for its status service. The app reads claims and coverage; it never submits a claim by itself and never alters a charge without a biller's confirmation.`,
    category: "FINANCIAL",
    audience: "BACKEND",
    version: "7.1.4",
    glyph: "invoice",
    hue: 275,
    extensionPoints: ["global-nav", "encounter-panel", "settings"],
    smartLaunchUrl: null,
    fhirScopes: "system/Claim.rus system/ClaimResponse.rs system/Coverage.rs system/Encounter.rs system/Condition.rs",
    featured: false,
    subscribers: 48,
    screenshotTitles: ["Claims to fix", "First-pass acceptance", "Why this claim was held"],
    publishedAt: "2023-02-21T07:45:00.000Z",
    updatedAt: "2026-10-13T06:30:00.000Z",
    configSchema: {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      properties: {
        submitterNumber: {
          type: "string",
          title: "Submitter number",
          description: "As printed on your clearinghouse enrollment letter.",
          pattern: "^[A-Z0-9]{4,15}$",
        },
        clearinghouseKey: {
          type: "string",
          title: "Clearinghouse key",
          description: "Used to ask for claim status. Stored encrypted and never shown again.",
          writeOnly: true,
          minLength: 16,
        },
        holdAboveMinorUnits: {
          type: "integer",
          title: "Hold claims above",
          description: "Claims with a finding above this amount (in cents) wait for a biller.",
          minimum: 0,
          default: 25000,
        },
      },
      required: ["submitterNumber"],
      additionalProperties: false,
    },
    plans: [
      {
        name: "Pay per claim",
        description: "A rate per checked claim that falls with volume.",
        pricingModel: "USAGE",
        currency: "USD",
        amount: null,
        interval: "MONTH",
        metric: "claims_checked",
        aggregation: "COUNT",
        tierMode: "GRADUATED",
        tiers: [
          { upTo: 2000, unitAmount: 14, flatAmount: 0 },
          { upTo: 20000, unitAmount: "8.5", flatAmount: 0 },
          { upTo: null, unitAmount: "5.25", flatAmount: 0 },
        ],
        features: ["All payer edits", "Your own rules", "Nightly checks"],
      },
      {
        name: "Billing office",
        description: "A yearly price for offices that bill for several practices.",
        pricingModel: "FLAT",
        currency: "USD",
        amount: 1190000,
        interval: "YEAR",
        features: ["Unlimited claims", "Hourly checks", "Several practices", "Rule review each quarter"],
      },
    ],
  },
  {
    slug: "copay-compass",
    vendor: "tallowmere",
    name: "Copay Compass",
    summary: "Eligibility and an honest cost estimate on the screen before the patient reaches the desk.",
    description: `Copay Compass checks coverage three days ahead and again on the morning of the visit, then turns the payer's answer into a figure that staff can say aloud and patients can understand.

- Deductible, coinsurance and copay for the planned visit type
- A printable good-faith estimate with the services spelled out
- Warnings for lapsed plans, wrong subscribers and out-of-network sites
- Card-on-file and payment-plan suggestions for larger balances
- A history of every check, for the day a payer disputes one

### How it fits your day

The appointment panel shows a small green, amber or red needle. Green needs no attention; the other two open with the next step already drafted. Practices usually begin with new patients, whose coverage changes most often.`,
    category: "FINANCIAL",
    audience: "CLINICIAN",
    version: "4.3.0",
    glyph: "coins",
    hue: 135,
    extensionPoints: ["appointment-panel", "patient-chart-panel", "cds:appointment-book"],
    smartLaunchUrl: "https://tallowmere.example/copay-compass/launch",
    fhirScopes:
      "launch openid fhirUser patient/Patient.r patient/Coverage.rs patient/Appointment.rs patient/CoverageEligibilityRequest.c patient/CoverageEligibilityResponse.rs",
    featured: false,
    subscribers: 40,
    screenshotTitles: ["Coverage for tomorrow", "Collected at the desk"],
    publishedAt: "2023-09-12T12:10:00.000Z",
    updatedAt: "2026-08-04T10:00:00.000Z",
    configSchema: null,
    plans: [
      {
        name: "By the check",
        description: "One price for all checks of a month, set by the tier you reach.",
        pricingModel: "TIERED",
        currency: "USD",
        amount: null,
        interval: "MONTH",
        trialDays: 14,
        unitName: "eligibility check",
        tierMode: "VOLUME",
        tiers: [
          { upTo: 500, unitAmount: 25, flatAmount: 0 },
          { upTo: 5000, unitAmount: 18, flatAmount: 0 },
          { upTo: null, unitAmount: "11.5", flatAmount: 0 },
        ],
        features: ["Two checks per visit", "Estimates", "History of checks"],
      },
      {
        name: "Per provider",
        description: "A predictable price with a generous number of checks.",
        pricingModel: "PER_UNIT",
        currency: "USD",
        amount: 5900,
        interval: "MONTH",
        unitName: "provider",
        features: ["Unlimited checks", "Payment-plan suggestions", "Phone support"],
      },
    ],
  },
  {
    slug: "denial-garden",
    vendor: "mossgate",
    name: "Denial Garden",
    summary: "Work queues that show which denials are worth an appeal and which weeds to pull at the root.",
    description: `Most denials come from a handful of causes. Denial Garden groups them, estimates what each appeal is likely to recover, and gives your team a queue that begins with the money rather than with the date.

- Clusters of denials by reason, payer, code and the step where they began
- Appeal letters drafted from the chart, with the supporting pages attached
- Deadlines by payer, with a gentle reminder and then a less gentle one
- Root-cause notes that become checks in your claim rules
- Recovery by cluster, so that effort and result can be compared

### Getting started

Import twelve months of remittances; the first clusters appear within an hour. We suggest a weekly half hour with the front desk, because that is where most of the roots turn out to be.`,
    category: "FINANCIAL",
    audience: "CLINICIAN",
    version: "1.9.2",
    glyph: "sprout",
    hue: 20,
    extensionPoints: ["global-nav", "encounter-panel"],
    smartLaunchUrl: "https://mossgate.example/denial-garden/launch",
    fhirScopes:
      "launch openid fhirUser user/Claim.rs user/ClaimResponse.rs user/ExplanationOfBenefit.rs user/DocumentReference.crs",
    featured: false,
    subscribers: 14,
    screenshotTitles: ["Appeals by value", "Recovered by cause", "Appeal letter"],
    publishedAt: "2024-11-19T15:30:00.000Z",
    updatedAt: "2026-05-27T09:15:00.000Z",
    configSchema: null,
    plans: [
      {
        name: "Kitchen garden",
        description: "For a single practice.",
        pricingModel: "FLAT",
        currency: "USD",
        amount: 24900,
        interval: "MONTH",
        trialDays: 30,
        features: ["1 practice", "Clusters and queues", "Drafted appeals"],
      },
      {
        name: "Walled garden",
        description: "For groups and billing companies.",
        pricingModel: "FLAT",
        currency: "USD",
        amount: 69900,
        interval: "MONTH",
        features: ["Up to 12 practices", "Team queues", "Recovery reports", "Monthly review"],
      },
    ],
  },
  {
    slug: "paper-lantern-statements",
    vendor: "emberyard",
    name: "Paper Lantern Statements",
    summary: "Patient statements people can read, by post, email or text, with a way to pay on every page.",
    description: `A statement should answer three questions: what was this for, what did my insurance do, and what do I owe? Paper Lantern lays the answers out on a single page and sends it the way each patient prefers.

- Printed and posted within one working day, or delivered by email or text
- Plain words for procedure codes, reviewed by people who are not billers
- A pay link and code on each page; no account or password needed
- Two gentle reminders before anything stronger, on a rhythm you choose
- Returned mail is scanned and comes back with a corrected address

### Good to know

Postage is included in the price of a printed statement. Balances below the threshold you set are left alone, since a reminder that costs more than it brings helps nobody.`,
    category: "FINANCIAL",
    audience: "BACKEND",
    version: "6.0.0",
    glyph: "lantern",
    hue: 345,
    extensionPoints: ["global-nav", "patient-portal-menu", "settings"],
    smartLaunchUrl: null,
    fhirScopes: "system/Patient.rs system/Account.rs system/Invoice.rs system/Communication.c",
    featured: false,
    subscribers: 27,
    screenshotTitles: ["Ready to send", "Paid within 30 days", "Statement preview"],
    publishedAt: "2023-12-05T11:20:00.000Z",
    updatedAt: "2026-02-10T13:55:00.000Z",
    configSchema: null,
    plans: [
      {
        name: "Digital",
        description: "Email and text statements.",
        pricingModel: "USAGE",
        currency: "USD",
        amount: "12.5",
        interval: "MONTH",
        metric: "digital_statements_sent",
        aggregation: "COUNT",
        includedUnits: 100,
        features: ["100 statements included", "Pay link", "Reminders"],
      },
      {
        name: "Print and digital",
        description: "Printed statements with postage; digital ones ride along for free.",
        pricingModel: "USAGE",
        currency: "USD",
        amount: 98,
        interval: "MONTH",
        metric: "printed_statements_sent",
        aggregation: "COUNT",
        features: ["Postage included", "Free digital statements", "Returned mail handling", "Your letterhead"],
      },
    ],
  },
];
