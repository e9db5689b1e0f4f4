import type { DemoApp } from "../demo-app.ts";

export const officeDeviceIntegrationApps: DemoApp[] = [
  {
    slug: "stickleback-labels",
    vendor: "windlass-devices",
    name: "Stickleback Labels",
    summary: "Specimen, wristband and chart labels from any printer in the clinic, right the first time.",
    description: `Stickleback prints the label that belongs to the order in front of you, on the printer nearest to you, in the format your laboratory expects. It was built by people who have peeled too many labels off too many tubes.

- Ready-made layouts for tubes, slides, cassettes and wristbands
- Two-dimensional codes that scan on curved and frosted surfaces
- Nearest-printer choice by room, with a fallback when one is out of paper
- Reprints that carry a mark, so that a duplicate is always recognized
- A queue that survives restarts of printer, browser and building

### Before you install

Each printer needs a small bridge program on one computer of the same network. Installation takes five minutes and no administrator rights; a list of printer models we have tested is in the settings page.`,
    category: "OFFICE_DEVICE_INTEGRATION",
    audience: "BACKEND",
    version: "5.5.0",
    glyph: "barcode",
    hue: 230,
    extensionPoints: ["encounter-panel", "patient-chart-panel", "settings"],
    smartLaunchUrl: null,
    fhirScopes: "system/ServiceRequest.rs system/Specimen.rs system/Patient.r system/Device.rs",
    featured: false,
    subscribers: 42,
    screenshotTitles: ["Print queue", "Label designer", "Printer health"],
    publishedAt: "2023-04-18T10:50:00.000Z",
    updatedAt: "2026-08-25T09:05:00.000Z",
    configSchema: {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      properties: {
        labelSize: {
          type: "string",
          title: "Default label size",
          description: "Used where an order does not ask for another.",
          enum: ["25x13mm", "50x25mm", "57x32mm", "wristband"],
          default: "50x25mm",
        },
        copies: {
          type: "integer",
          title: "Copies",
          description: "How many labels to print for each specimen.",
          minimum: 1,
          maximum: 6,
          default: 2,
        },
        showBirthDate: {
          type: "boolean",
          title: "Print the birth date",
          description: "Some laboratories require it as a second identifier.",
          default: true,
        },
      },
      additionalProperties: false,
    },
    plans: [
      {
        name: "By printer",
        description: "The more printers, the less each one costs.",
        pricingModel: "TIERED",
        currency: "USD",
        amount: null,
        interval: "MONTH",
        trialDays: 30,
        unitName: "printer",
        tierMode: "VOLUME",
        tiers: [
          { upTo: 3, unitAmount: 1500, flatAmount: 0 },
          { upTo: 15, unitAmount: 1100, flatAmount: 0 },
          { upTo: null, unitAmount: 750, flatAmount: 0 },
        ],
        features: ["All layouts", "Nearest-printer choice", "Email support"],
      },
    ],
  },
  {
    slug: "fax-warbler",
    vendor: "copperfinch",
    name: "Fax Warbler",
    summary: "Incoming faxes named, sorted and matched to the right chart, so that nobody stands by the machine.",
    description: `As long as the rest of the world faxes, Fax Warbler makes the best of it. It receives on the numbers you already have, reads each page, proposes a patient and a document type, and waits for a nod.

- Splits a forty-page bundle into the documents it is made of
- Reads upside-down, skewed and third-generation copies
- Matches by name, birth date and sender, and says how sure it is
- Sends from the chart with a cover sheet and a receipt
- Keeps junk faxes out of sight, with a weekly summary of what it kept

### How it fits your day

Most clinics file in two short sessions instead of all day long. Anything urgent, such as a critical result, rises to the top and rings a bell for the person you choose.`,
    category: "OFFICE_DEVICE_INTEGRATION",
    audience: "BACKEND",
    version: "8.2.6",
    glyph: "printer",
    hue: 30,
    extensionPoints: ["global-nav", "patient-chart-panel", "settings"],
    smartLaunchUrl: null,
    fhirScopes: "system/DocumentReference.crus system/Binary.cr system/Patient.rs system/Task.cus",
    featured: false,
    subscribers: 51,
    screenshotTitles: ["Faxes to file", "Proposed split", "Pages by sender"],
    publishedAt: "2023-05-30T08:20:00.000Z",
    updatedAt: "2026-10-20T12:00:00.000Z",
    configSchema: {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      properties: {
        faxNumber: {
          type: "string",
          title: "Fax number",
          description: "The number to receive on, with country code.",
          pattern: "^\\+[1-9][0-9]{7,14}$",
        },
        carrierToken: {
          type: "string",
          title: "Carrier token",
          description: "Needed only if you bring your own fax line. Never shown again.",
          writeOnly: true,
        },
        urgentWords: {
          type: "array",
          title: "Urgent words",
          description: "A fax with one of these words on its first page rises to the top.",
          items: { type: "string", maxLength: 40 },
          maxItems: 20,
          default: ["critical", "stat"],
        },
      },
      required: ["faxNumber"],
      additionalProperties: false,
    },
    plans: [
      {
        name: "By the page",
        description: "Pages in and out count alike.",
        pricingModel: "USAGE",
        currency: "USD",
        amount: "4.5",
        interval: "MONTH",
        trialDays: 14,
        metric: "fax_pages",
        aggregation: "SUM",
        includedUnits: 300,
        features: ["300 pages included", "Splitting and matching", "Junk filter"],
      },
      {
        name: "Busy line",
        description: "A fixed price for up to three numbers.",
        pricingModel: "FLAT",
        currency: "USD",
        amount: 15900,
        interval: "MONTH",
        features: ["Up to 6,000 pages", "3 numbers", "Urgent bell", "Phone support"],
      },
    ],
  },
  {
    slug: "cardglide",
    vendor: "emberyard",
    name: "Cardglide",
    summary: "Insurance cards and photo IDs read by desk scanner or phone, straight into the right fields.",
    description: `Cardglide reads a card in under two seconds and fills the registration form: member number, group, plan, payer address and the small print on the back. What it cannot read with certainty, it leaves for you and says so.

- Works with common flatbed and pass-through scanners, and with phone cameras
- Detects a card that differs from the one on file, and what has changed
- Stores both sides as images beside the coverage
- Compares the photo ID with the chart's demographics, field by field
- Understands cards in English, French and Spanish

### Before you install

Check that your scanner is on our list, or order one from us. Images are kept in your health record rather than with us, and our copies are deleted as soon as the fields have been returned.`,
    category: "OFFICE_DEVICE_INTEGRATION",
    audience: "CLINICIAN",
    version: "3.3.9",
    glyph: "id-card",
    hue: 175,
    extensionPoints: ["patient-chart-panel", "appointment-panel"],
    smartLaunchUrl: "https://emberyard.example/cardglide/launch",
    fhirScopes: "launch openid fhirUser patient/Patient.ru patient/Coverage.crus patient/DocumentReference.c",
    featured: false,
    subscribers: 25,
    screenshotTitles: ["Cards read today", "Compare with the file"],
    publishedAt: "2024-03-26T13:35:00.000Z",
    updatedAt: "2026-01-15T08:50:00.000Z",
    configSchema: null,
    plans: [
      {
        name: "Front desk",
        description: "One price per site.",
        pricingModel: "FLAT",
        currency: "USD",
        amount: 5900,
        interval: "MONTH",
        trialDays: 14,
        features: ["Unlimited cards", "3 workstations", "Change detection"],
      },
      {
        name: "Front desk, yearly",
        description: "Includes a pass-through scanner.",
        pricingModel: "FLAT",
        currency: "USD",
        amount: 64900,
        interval: "YEAR",
        features: ["Unlimited cards", "Unlimited workstations", "1 scanner", "Replacement in two days"],
      },
    ],
  },
  {
    slug: "inkwell-signpad",
    vendor: "quillmoor",
    name: "Inkwell Signpad",
    summary: "Signatures from desk pads and tablets placed in the right form, with proof that holds up.",
    description: `Inkwell connects signature pads to the forms in your health record. The patient reads the text on the pad itself, signs below it, and takes a copy home by email; you get a sealed document with a clear trail.

- Pads of four makers, and any tablet with a stylus or a steady finger
- Forms shown in full, with the passage being signed for in bold
- Witness and interpreter signatures, in any order
- A seal that reveals later changes, down to a single character
- Works without a network and files when the connection returns

### What the law asks

Inkwell records who signed, when, on which device and which version of the text they saw. Your own counsel decides which forms may be signed this way; we provide a summary to make that conversation short.`,
    category: "OFFICE_DEVICE_INTEGRATION",
    audience: "CLINICIAN",
    version: "1.4.8",
    glyph: "pen",
    hue: 265,
    extensionPoints: ["encounter-panel", "appointment-panel"],
    smartLaunchUrl: "https://quillmoor.example/inkwell-signpad/launch",
    fhirScopes: "launch openid fhirUser patient/Patient.r patient/Consent.crs patient/DocumentReference.crs",
    featured: false,
    subscribers: 5,
    screenshotTitles: ["Waiting for a signature", "Signed consent"],
    publishedAt: "2025-05-13T09:10:00.000Z",
    updatedAt: "2026-02-24T17:30:00.000Z",
    configSchema: null,
    plans: [
      {
        name: "Per pad",
        description: "Priced by connected device.",
        pricingModel: "PER_UNIT",
        currency: "EUR",
        amount: 1200,
        interval: "MONTH",
        trialDays: 30,
        unitName: "device",
        features: ["Unlimited signatures", "Sealed documents", "Offline signing"],
      },
      {
        name: "Per signature",
        description: "For practices that need a signature now and then.",
        pricingModel: "USAGE",
        currency: "EUR",
        amount: 30,
        interval: "MONTH",
        metric: "documents_signed",
        aggregation: "COUNT",
        features: ["Any number of devices", "Sealed documents"],
      },
    ],
  },
];
