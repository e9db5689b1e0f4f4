import type { DemoApp } from "../demo-app.ts";

export const officeAdministrationApps: DemoApp[] = [
  {
    slug: "rota-and-roster",
    vendor: "otterbourne",
    name: "Rota & Roster",
    summary: "Staff shifts, leave and on-call cover on one board that everyone can read from their phone.",
    description: `Rota & Roster plans who is where. It knows contracts, skills and working-time limits, proposes a fair rota for the month, and lets people swap shifts without a chain of emails.

- Draft rotas in minutes, with the reasons for each choice laid open
- Leave requests that show what the ward or surgery looks like without you
- Swaps between colleagues, approved automatically when the rules allow
- On-call lists that the switchboard and the patient-facing phone line can read
- Hours by contract, ready for payroll on the first of the month

### Privacy

The app holds staff data only. It signs people in with the account they already use and asks for no patient information whatsoever, so no agreement about protected health information is needed.`,
    category: "OFFICE_ADMINISTRATION",
    audience: "CLINICIAN",
    version: "3.1.7",
    glyph: "users",
    hue: 200,
    extensionPoints: ["global-nav"],
    smartLaunchUrl: null,
    fhirScopes: "openid fhirUser",
    featured: false,
    subscribers: 22,
    screenshotTitles: ["Shifts to fill", "Leave requests", "This week"],
    publishedAt: "2023-08-15T09:00:00.000Z",
    updatedAt: "2026-07-29T15:10:00.000Z",
    configSchema: null,
    plans: [
      {
        name: "Small team",
        description: "Free for teams of up to eight.",
        pricingModel: "FREE",
        currency: "GBP",
        amount: 0,
        interval: null,
        features: ["Up to 8 people", "Leave and swaps", "Community support"],
      },
      {
        name: "Team",
        description: "Priced by the people on the rota; the first eight are included.",
        pricingModel: "PER_UNIT",
        currency: "GBP",
        amount: 250,
        interval: "MONTH",
        trialDays: 30,
        unitName: "staff member",
        includedUnits: 8,
        features: ["Automatic drafts", "On-call lists", "Payroll export", "Email support"],
      },
    ],
  },
  {
    slug: "pantry-stockroom",
    vendor: "windlass-devices",
    name: "Pantry Stockroom",
    summary: "Vaccines, sutures and paper rolls counted with a phone camera and reordered before they run out.",
    description: `Every clinic has a cupboard that nobody has counted since spring. Pantry makes counting quick: walk past the shelf, scan what you see, and let the app work out what is missing.

- Lot numbers and expiry dates, with first-expired-first-used picking lists
- Fridge temperatures beside the vaccines they protect
- Reorder points learned from your own use, season by season
- Recall search: type a lot and see which shelf and which session held it
- Purchase lists by supplier, ready to send

### How it fits your day

Allow one quiet afternoon for the first count. After that a weekly walk of ten minutes keeps the numbers honest, and the Friday list tells the purchaser what to order and what can wait.`,
    category: "OFFICE_ADMINISTRATION",
    audience: "BACKEND",
    version: "2.0.5",
    glyph: "box",
    hue: 75,
    extensionPoints: ["global-nav", "settings"],
    smartLaunchUrl: null,
    fhirScopes: "system/Location.rs",
    featured: false,
    subscribers: 12,
    screenshotTitles: ["Orders in progress", "Expiring soon"],
    publishedAt: "2024-02-27T14:40:00.000Z",
    updatedAt: "2025-11-18T10:25:00.000Z",
    configSchema: null,
    plans: [
      {
        name: "One cupboard",
        description: "A single location.",
        pricingModel: "FLAT",
        currency: "USD",
        amount: 2900,
        interval: "MONTH",
        trialDays: 14,
        features: ["1 location", "Lots and expiry", "Reorder lists"],
      },
      {
        name: "Many cupboards",
        description: "Priced by location, less for each one you add.",
        pricingModel: "TIERED",
        currency: "USD",
        amount: null,
        interval: "MONTH",
        unitName: "location",
        tierMode: "GRADUATED",
        tiers: [
          { upTo: 5, unitAmount: 2500, flatAmount: 0 },
          { upTo: null, unitAmount: 1500, flatAmount: 0 },
        ],
        features: ["Transfers between sites", "Fridge sensors", "Recall search", "Supplier lists"],
      },
    ],
  },
  {
    slug: "lapel-credentials",
    vendor: "quillmoor",
    name: "Lapel Credentials",
    summary: "Licences, board certificates and payer enrollments that renew on time, without a spreadsheet.",
    description: `Lapel keeps the paperwork that lets clinicians practise. It reads expiry dates from uploaded certificates, asks each person for what only they can supply, and prepares enrollment packets that payers accept the first time.

- One profile per clinician, with every licence, certificate and reference
- Reminders at 120, 60 and 14 days, to the clinician first and the manager second
- Enrollment packets for the payers you work with, filled in and checked
- Continuing-education hours by topic and cycle
- A read-only link for auditors that closes after a week

### Who it is for

Practice managers who look after five to two hundred clinicians. Lapel reads the list of practitioners and their roles so that nobody has to be typed in twice, and asks for nothing else from the health record.`,
    category: "OFFICE_ADMINISTRATION",
    audience: "BACKEND",
    version: "1.12.0",
    glyph: "badge",
    hue: 295,
    extensionPoints: ["global-nav"],
    smartLaunchUrl: null,
    fhirScopes: "system/Practitioner.rs system/PractitionerRole.rs",
    featured: false,
    subscribers: 9,
    screenshotTitles: ["Renewals this quarter", "Missing documents"],
    publishedAt: "2025-01-22T16:00:00.000Z",
    updatedAt: "2026-09-02T12:35:00.000Z",
    configSchema: null,
    plans: [
      {
        name: "Renewals",
        description: "Expiry tracking and reminders.",
        pricingModel: "PER_UNIT",
        currency: "USD",
        amount: 900,
        interval: "MONTH",
        trialDays: 14,
        unitName: "clinician",
        features: ["Profiles", "Reminders", "Auditor links"],
      },
      {
        name: "Renewals and enrollment",
        description: "With payer packets prepared for you.",
        pricingModel: "PER_UNIT",
        currency: "USD",
        amount: 2400,
        interval: "MONTH",
        unitName: "clinician",
        features: ["Everything in Renewals", "Payer packets", "Follow-up with payers", "Named specialist"],
      },
    ],
  },
  {
    slug: "first-light-huddle",
    vendor: "sundial-row",
    name: "First Light Huddle",
    summary: "A ten-minute morning huddle board: who is in, what is tight and what went well yesterday.",
    description: `First Light prepares the board that your team stands around before the doors open. It counts rather than names: how full the day is, where two complex visits collide, which rooms are out of use, and who could do with a hand.

- Built overnight from the schedule, without any patient's name on the wall
- A thank-you line that anyone can write to, and everyone reads
- Three open actions at most, each with an owner and a day
- A timer that turns amber at eight minutes and red at ten
- Trends for the things your team has decided to watch

### Why it works

Huddles fail when preparing them becomes somebody's job. First Light takes six seconds to open and nothing to prepare, and runs on whatever screen hangs in the break room.`,
    category: "OFFICE_ADMINISTRATION",
    audience: "BACKEND",
    version: "2.6.1",
    glyph: "sunrise",
    hue: 50,
    extensionPoints: ["global-nav"],
    smartLaunchUrl: null,
    fhirScopes: "system/Appointment.s system/Schedule.rs system/Location.rs",
    featured: false,
    subscribers: 37,
    screenshotTitles: ["This morning", "Open actions", "How full the week is"],
    publishedAt: "2024-01-09T06:30:00.000Z",
    updatedAt: "2026-04-14T07:20:00.000Z",
    configSchema: null,
    plans: [
      {
        name: "One team",
        description: "Free, for as long as you like.",
        pricingModel: "FREE",
        currency: "USD",
        amount: 0,
        interval: null,
        features: ["1 board", "Actions and thank-yous", "30 days of trends"],
      },
      {
        name: "Whole practice",
        description: "A board for each team and trends that go back to the beginning.",
        pricingModel: "FLAT",
        currency: "USD",
        amount: 4500,
        interval: "MONTH",
        trialDays: 30,
        features: ["Unlimited boards", "Unlimited trends", "Your own measures", "Email support"],
      },
    ],
  },
];
