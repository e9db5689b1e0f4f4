import type { DemoApp } from "../demo-app.ts";

export function documentationApps(demoAppUrl: string): DemoApp[] {
  return [
    {
      slug: "northwind-scribe",
      vendor: "northwind-health",
      name: "Northwind Scribe",
      summary: "Ambient notes: have the conversation, then review a finished draft before the patient has left.",
      description: `Northwind Scribe listens to the visit, with the patient's consent, and drafts the note while you talk. You look at the person instead of the keyboard, and find a draft in your own style when the door closes.

- History, exam, assessment and plan, in the structure your templates already use
- Every sentence linked to the moment in the conversation it came from
- Orders and follow-ups proposed for your signature, never placed on their own
- Visits in English, Spanish and French, with the note in the language you prefer
- Audio deleted after seven days, or at once if you ask for it

### How it fits your day

Open Scribe from the note, press record and put the phone down. Most clinicians sign within two minutes of the visit's end. Nothing is filed until you have read and signed it.`,
      category: "DOCUMENTATION",
      audience: "CLINICIAN",
      version: "4.7.2",
      glyph: "microphone",
      hue: 285,
      extensionPoints: ["note-panel", "encounter-panel", "patient-chart-tab", "cds:encounter-start"],
      smartLaunchUrl: `${demoAppUrl}/launch`,
      fhirScopes:
        "launch openid fhirUser online_access patient/Patient.r patient/Encounter.rs patient/Condition.rs patient/MedicationRequest.rs patient/Observation.rs patient/DocumentReference.crus",
      featured: true,
      subscribers: 60,
      screenshotTitles: ["Draft note", "Visits to review", "Time given back"],
      publishedAt: "2023-05-09T15:00:00.000Z",
      updatedAt: "2026-10-27T10:30:00.000Z",
      configSchema: {
        $schema: "https://json-schema.org/draft/2020-12/schema",
        type: "object",
        properties: {
          language: {
            type: "string",
            title: "Language of the note",
            description: "The conversation itself may be in any supported language.",
            enum: ["en-US", "es-US", "fr-CA"],
            default: "en-US",
          },
          apiKey: {
            type: "string",
            title: "API key",
            description: "Only if your organization has a Northwind account of its own. Never shown again.",
            writeOnly: true,
          },
        },
        additionalProperties: false,
      },
      plans: [
        {
          name: "Solo",
          description: "One clinician, all the visits of a normal month.",
          pricingModel: "FLAT",
          currency: "USD",
          amount: 9900,
          interval: "MONTH",
          trialDays: 14,
          features: ["1 clinician", "Unlimited visits", "Your own templates", "Email support"],
        },
        {
          name: "Practice",
          description: "Priced by clinician, with shared templates.",
          pricingModel: "PER_UNIT",
          currency: "USD",
          amount: 8400,
          interval: "MONTH",
          trialDays: 14,
          unitName: "clinician",
          features: ["Unlimited visits", "Shared templates", "Time reports", "Phone support"],
        },
        {
          name: "By the note",
          description: "For occasional use and locums.",
          pricingModel: "USAGE",
          currency: "USD",
          amount: 85,
          interval: "MONTH",
          metric: "notes",
          aggregation: "SUM",
          includedUnits: 40,
          features: ["40 notes included", "Any number of clinicians"],
        },
        {
          name: "Health system",
          description: "Volume price for organizations with many sites.",
          pricingModel: "TIERED",
          currency: "USD",
          amount: null,
          interval: "YEAR",
          unitName: "clinician",
          tierMode: "VOLUME",
          tiers: [
            { upTo: 50, unitAmount: 90000, flatAmount: 0 },
            { upTo: 250, unitAmount: 78000, flatAmount: 0 },
            { upTo: null, unitAmount: 64000, flatAmount: 0 },
          ],
          features: ["Everything in Practice", "Single sign-on", "Audio retention policy", "Named contact"],
        },
      ],
    },
    {
      slug: "pocket-phrasebook",
      vendor: "pocketlark",
      name: "Pocket Phrasebook",
      summary: "Your best sentences, two keystrokes away: shared snippets with blanks that fill themselves.",
      description: `Pocket Phrasebook collects the sentences you write every day and brings them back with a short code. Blanks such as age, last blood pressure or today's date fill themselves from the open chart.

- Type a dot and two letters; the phrase appears where you are writing
- Blanks from the chart, menus for the rest, and Tab to move between them
- A shared shelf for the practice, and a private drawer for yourself
- Version history, with a note when a colleague improves a shared phrase
- Import from spreadsheets and from most other snippet tools

### Tips from our users

Begin with the ten sentences you are tired of. Give a phrase the code you would guess, not the code that looks clever. And once a year, throw half of them away.`,
      category: "DOCUMENTATION",
      audience: "CLINICIAN",
      version: "6.1.0",
      glyph: "book",
      hue: 150,
      extensionPoints: ["note-panel", "settings"],
      smartLaunchUrl: "https://pocketlark.example/pocket-phrasebook/launch",
      fhirScopes: "launch openid fhirUser patient/Patient.r patient/Observation.rs patient/Condition.rs",
      featured: false,
      subscribers: 56,
      screenshotTitles: ["Phrase in a note", "Shared shelf"],
      publishedAt: "2023-02-28T11:15:00.000Z",
      updatedAt: "2026-07-07T14:25:00.000Z",
      configSchema: null,
      plans: [
        {
          name: "Private drawer",
          description: "For one person, free.",
          pricingModel: "FREE",
          currency: "USD",
          amount: 0,
          interval: null,
          features: ["100 phrases", "Blanks from the chart"],
        },
        {
          name: "Shared shelf",
          description: "For practices that write with one voice.",
          pricingModel: "PER_UNIT",
          currency: "USD",
          amount: 600,
          interval: "MONTH",
          trialDays: 30,
          unitName: "user",
          features: ["Unlimited phrases", "Shared shelf", "Version history"],
        },
      ],
    },
    {
      slug: "resume-clair",
      vendor: "vallee-claire",
      name: "Résumé Clair",
      summary: "Turns the signed note into a letter that patients understand, in plain French or English.",
      description: `Résumé Clair writes the letter that patients wish they had: what we talked about, what we found, what happens next, and when to call. It starts from your signed note and stays within it.

- Reading level of a good newspaper, or simpler where you ask for it
- French and English side by side, with Canadian and European vocabulary
- Medication changes in a table: new, changed, stopped, unchanged
- Warning signs chosen from your own library rather than invented
- Delivered to the portal, printed, or read aloud

### Before you install

Résumé Clair works from signed notes only, so that a letter never runs ahead of the clinician. You approve every letter during the first month; after that you decide which visit types may go out on their own.`,
      category: "DOCUMENTATION",
      audience: "CLINICIAN",
      version: "2.2.4",
      glyph: "document",
      hue: 215,
      extensionPoints: ["note-panel", "encounter-panel", "cds:encounter-discharge"],
      smartLaunchUrl: "https://vallee-claire.example/resume-clair/launch",
      fhirScopes:
        "launch openid fhirUser patient/Patient.r patient/Encounter.r patient/DocumentReference.crs patient/MedicationRequest.rs patient/CarePlan.rs",
      featured: false,
      subscribers: 15,
      screenshotTitles: ["Letter beside the note", "Letters to approve"],
      publishedAt: "2024-09-17T12:45:00.000Z",
      updatedAt: "2026-08-18T11:30:00.000Z",
      configSchema: null,
      plans: [
        {
          name: "À la carte",
          description: "Billed for each letter that is sent.",
          pricingModel: "USAGE",
          currency: "CAD",
          amount: 45,
          interval: "MONTH",
          metric: "letters_sent",
          aggregation: "COUNT",
          includedUnits: 20,
          features: ["20 letters included", "French and English", "Portal delivery"],
        },
        {
          name: "Clinique",
          description: "A monthly price for a clinic of any size.",
          pricingModel: "FLAT",
          currency: "CAD",
          amount: 21900,
          interval: "MONTH",
          trialDays: 30,
          features: ["Unlimited letters", "Your own library", "Read-aloud letters", "Bilingual support"],
        },
      ],
    },
    {
      slug: "operative-quill",
      vendor: "quillmoor",
      name: "Operative Quill",
      summary: "Procedure notes in ninety seconds, with implants, counts and images where they belong.",
      description: `Operative Quill knows what a procedure note has to contain and asks for exactly that. Choose the procedure, correct what differs from your usual technique, and dictate the one paragraph that is truly new.

- Templates for over two hundred procedures, yours to change
- Implants and lots scanned at the table and listed in the note
- Images and video stills placed beside the step they show
- Counts, times and staff carried over from the perioperative record
- Codes suggested from what the note says, with the sentence as evidence

### For whom

Surgeons, endoscopists and proceduralists, in hospital or in the office. Residents can draft and attendings can sign, and the difference between the two remains visible for teaching.`,
      category: "DOCUMENTATION",
      audience: "CLINICIAN",
      version: "3.0.1",
      glyph: "feather",
      hue: 5,
      extensionPoints: ["note-panel", "encounter-panel"],
      smartLaunchUrl: "https://quillmoor.example/operative-quill/launch",
      fhirScopes:
        "launch openid fhirUser patient/Patient.r patient/Encounter.r patient/Procedure.crus patient/Device.rs patient/Media.rs patient/DocumentReference.crus",
      featured: false,
      subscribers: 20,
      screenshotTitles: ["Procedure note", "Notes to sign", "Signed within a day"],
      publishedAt: "2024-04-23T07:55:00.000Z",
      updatedAt: "2026-05-05T13:15:00.000Z",
      configSchema: null,
      plans: [
        {
          name: "Proceduralist",
          description: "Priced by the people who perform procedures; trainees are free.",
          pricingModel: "PER_UNIT",
          currency: "USD",
          amount: 6900,
          interval: "MONTH",
          trialDays: 30,
          unitName: "proceduralist",
          features: ["All templates", "Implant scanning", "Free trainee seats"],
        },
        {
          name: "Department",
          description: "A yearly price for a whole department.",
          pricingModel: "FLAT",
          currency: "USD",
          amount: 1450000,
          interval: "YEAR",
          features: ["Unlimited people", "Template workshop", "Code suggestions", "Phone support"],
        },
      ],
    },
  ];
}
