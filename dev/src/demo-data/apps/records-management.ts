import type { DemoApp } from "../demo-app.ts";

export const recordsManagementApps: DemoApp[] = [
  {
    slug: "chart-courier",
    vendor: "copperfinch",
    name: "Chart Courier",
    summary: "Record requests logged, checked, assembled and released, with the clock visible to everyone.",
    description: `Chart Courier runs release of information from the first request to the last page. It reads the request, checks the authorization, gathers what was asked for and nothing more, and keeps the log that auditors want to see.

- Requests from patients, lawyers, insurers and other practices in one queue
- Authorization checks: signature, dates, scope and special categories
- Page selection with sensitive notes set aside until someone decides
- Delivery by portal, secure link, disc or post, with a receipt
- Fees calculated by state and by requester, and invoiced where allowed

### How it fits your day

Routine requests take about four minutes. The deadline is counted in days left, not in dates, and turns amber with a week to go. Patients can follow their own request in the portal, which saves most of the calls.`,
    category: "RECORDS_MANAGEMENT",
    audience: "CLINICIAN",
    version: "4.4.4",
    glyph: "folder",
    hue: 245,
    extensionPoints: ["global-nav", "patient-chart-tab", "patient-portal-menu"],
    smartLaunchUrl: "https://copperfinch.example/chart-courier/launch",
    fhirScopes:
      "launch openid fhirUser user/Patient.rs user/DocumentReference.rs user/Binary.r user/Consent.rs user/AuditEvent.c user/Task.crus",
    featured: false,
    subscribers: 35,
    screenshotTitles: ["Requests by deadline", "Pages to release", "Turnaround"],
    publishedAt: "2023-07-25T10:30:00.000Z",
    updatedAt: "2026-09-15T15:45:00.000Z",
    configSchema: null,
    plans: [
      {
        name: "By request",
        description: "Graduated price per released request.",
        pricingModel: "TIERED",
        currency: "USD",
        amount: null,
        interval: "MONTH",
        unitName: "request",
        tierMode: "GRADUATED",
        tiers: [
          { upTo: 25, unitAmount: 0, flatAmount: 3900 },
          { upTo: 250, unitAmount: 140, flatAmount: 0 },
          { upTo: null, unitAmount: 95, flatAmount: 0 },
        ],
        features: ["25 requests in the base fee", "Authorization checks", "Disclosure log"],
      },
      {
        name: "Records office",
        description: "For hospitals with a records department of their own.",
        pricingModel: "FLAT",
        currency: "USD",
        amount: 129000,
        interval: "MONTH",
        trialDays: 30,
        features: ["Unlimited requests", "Fee rules by state", "Team queues", "Phone support"],
      },
    ],
  },
  {
    slug: "scanshelf",
    vendor: "thornwick",
    name: "Scanshelf",
    summary: "Sends the paper archive into the chart: scanned pages sorted by date, author and kind of document.",
    description: `Behind many clinics stands a room of paper that costs rent and answers no questions. Scanshelf takes it in, box by box, and turns it into documents that can be found.

- Cover sheets that tell the scanner which chart follows
- Dates, authors and document kinds read from the page, handwriting included
- Duplicates and blank sides dropped, with a trail of what was dropped
- A sampling check: one page in fifty is shown to a person, more if errors appear
- Searchable text beneath every page

### Planning your project

A four-drawer cabinet holds roughly ten thousand pages and takes two people a day to feed. Use your own scanner or send sealed boxes to us; either way the originals are yours to keep or destroy when you have seen the sampling report.`,
    category: "RECORDS_MANAGEMENT",
    audience: "BACKEND",
    version: "1.7.0",
    glyph: "archive",
    hue: 60,
    extensionPoints: ["global-nav", "settings"],
    smartLaunchUrl: null,
    fhirScopes: "system/Patient.rs system/DocumentReference.cs system/Binary.c",
    featured: false,
    subscribers: 8,
    screenshotTitles: ["Boxes in progress", "Page check"],
    publishedAt: "2024-08-06T14:00:00.000Z",
    updatedAt: "2025-12-09T09:40:00.000Z",
    configSchema: null,
    plans: [
      {
        name: "Your scanner",
        description: "You feed the pages, we do the reading.",
        pricingModel: "USAGE",
        currency: "USD",
        amount: "1.8",
        interval: "MONTH",
        metric: "pages_indexed",
        aggregation: "SUM",
        includedUnits: 500,
        features: ["500 pages a month included", "Handwriting", "Sampling report"],
      },
      {
        name: "Our scanners",
        description: "Sealed boxes collected, scanned and returned.",
        pricingModel: "USAGE",
        currency: "USD",
        amount: "6.75",
        interval: "MONTH",
        metric: "pages_scanned",
        aggregation: "SUM",
        features: ["Collection and return", "Chain of custody", "Sampling report", "Project manager"],
      },
    ],
  },
  {
    slug: "consent-ledger",
    vendor: "otterbourne",
    name: "Consent Ledger",
    summary: "Who may see what, and why: consents that patients can read, change and withdraw themselves.",
    description: `Consent Ledger keeps a patient's wishes in one place and makes them count. Research, teaching, family access, sharing with social care: each is a clear sentence with a date, a reason and a way back.

- Consents in plain language, with an audio version for those who prefer to listen
- Changes take effect at once and are written to the health record as FHIR consents
- A timeline that shows what was agreed at any moment in the past
- Delegates, guardians and advance statements, with their documents
- Renewal reminders for the consents that must not be open-ended

### Before you install

Decide with your data protection officer which consents you really need; we supply a worksheet with twelve common ones. Fewer is better: patients read three sentences carefully and thirteen not at all.`,
    category: "RECORDS_MANAGEMENT",
    audience: "CLINICIAN",
    version: "2.9.3",
    glyph: "shield",
    hue: 165,
    extensionPoints: ["patient-chart-panel", "patient-portal-menu", "cds:patient-view"],
    smartLaunchUrl: "https://otterbourne.example/consent-ledger/launch",
    fhirScopes: "launch openid fhirUser patient/Patient.r patient/Consent.crus patient/RelatedPerson.rs",
    featured: false,
    subscribers: 17,
    screenshotTitles: ["Consents to renew", "Consent in plain words"],
    publishedAt: "2024-06-18T08:35:00.000Z",
    updatedAt: "2026-06-30T10:10:00.000Z",
    configSchema: {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      properties: {
        renewalMonths: {
          type: "integer",
          title: "Renew after (months)",
          description: "When to ask a patient again about consents that expire.",
          minimum: 6,
          maximum: 60,
          default: 24,
        },
        purposes: {
          type: "array",
          title: "Purposes",
          description: "The consents you ask for.",
          items: { type: "string", enum: ["research", "teaching", "family-access", "social-care", "image-use"] },
          uniqueItems: true,
          maxItems: 5,
          default: ["research", "family-access"],
        },
      },
      additionalProperties: false,
    },
    plans: [
      {
        name: "Surgery",
        description: "For a single surgery or clinic.",
        pricingModel: "FLAT",
        currency: "GBP",
        amount: 3900,
        interval: "MONTH",
        trialDays: 30,
        features: ["Unlimited consents", "Audio versions", "Delegates"],
      },
      {
        name: "Trust",
        description: "A yearly price for organizations with several sites.",
        pricingModel: "FLAT",
        currency: "GBP",
        amount: 890000,
        interval: "YEAR",
        features: ["Unlimited sites", "Research registries", "Audit exports", "Named contact"],
      },
    ],
  },
  {
    slug: "mirrorpool-matching",
    vendor: "mossgate",
    name: "Mirrorpool Matching",
    summary: "Finds the charts that are really one person, and shows the evidence before you merge them.",
    description: `Duplicate charts hide allergies and repeat tests. Mirrorpool compares every chart with every other, scores the likeness, and lays the two side by side with the differences in colour.

- Tolerates nicknames, transposed digits, married names and moved addresses
- Explains each score: what agrees, what differs and how rare the agreement is
- Catches twins and parents with the same name, and keeps them apart
- Watches new registrations and warns before a second chart is opened
- Never merges by itself; a person decides, and every decision can be undone

### What to expect

In a clinic of thirty thousand charts the first run usually finds four to eight hundred pairs. Two people can work through them in a month of quiet half hours, beginning with the pairs that share an upcoming visit.`,
    category: "RECORDS_MANAGEMENT",
    audience: "BACKEND",
    version: "1.3.5",
    glyph: "venn",
    hue: 305,
    extensionPoints: ["global-nav", "cds:patient-view"],
    smartLaunchUrl: null,
    fhirScopes: "system/Patient.rs system/RelatedPerson.rs system/Task.crus",
    featured: false,
    subscribers: 3,
    screenshotTitles: ["Likely pairs", "Side by side"],
    publishedAt: "2025-03-04T13:20:00.000Z",
    updatedAt: "2026-03-31T16:05:00.000Z",
    configSchema: null,
    plans: [
      {
        name: "Yearly",
        description: "Priced by the size of your practice in charts, once a year.",
        pricingModel: "TIERED",
        currency: "USD",
        amount: null,
        interval: "YEAR",
        unitName: "thousand charts",
        tierMode: "GRADUATED",
        tiers: [
          { upTo: 10, unitAmount: 6000, flatAmount: 0 },
          { upTo: 100, unitAmount: 3500, flatAmount: 0 },
          { upTo: null, unitAmount: 1200, flatAmount: 0 },
        ],
        features: ["Continuous matching", "Registration warnings", "Undo"],
      },
      {
        name: "Spring clean",
        description: "See how many pairs you have, free of charge.",
        pricingModel: "FREE",
        currency: "USD",
        amount: 0,
        interval: null,
        features: ["One full run", "Counts by likeness", "20 pairs in detail"],
      },
    ],
  },
];
