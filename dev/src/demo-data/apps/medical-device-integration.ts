import type { DemoApp } from "../demo-app.ts";

export const medicalDeviceIntegrationApps: DemoApp[] = [
  {
    slug: "lumen-twelve-lead",
    vendor: "lumen-medical",
    name: "Lumen Twelve-Lead",
    summary: "Resting ECGs from cart to chart in seconds, with earlier tracings laid underneath for comparison.",
    description: `Lumen Twelve-Lead receives tracings from the carts you own, attaches them to the right encounter and draws them sharply at any size. Comparing with the last one is a matter of dragging a slider.

- Carts of seven makers, by network, by Bluetooth or with a USB stick
- Worklists on the cart, so that nobody types a birth date at the bedside
- Calipers, lead switching and side-by-side or overlaid comparison
- The cart's own measurements stored as observations, with their units
- A reading queue for the cardiologist, at home or in clinic

### Before you install

Twelve-Lead displays and measures; it does not interpret. The statement printed by your cart is shown as it came, marked as unconfirmed until a physician has read the tracing. Tell us the model of your carts and we send the matching settings.`,
    category: "MEDICAL_DEVICE_INTEGRATION",
    audience: "CLINICIAN",
    version: "3.4.0",
    glyph: "pulse",
    hue: 355,
    extensionPoints: ["patient-chart-tab", "encounter-panel", "cds:order-sign"],
    smartLaunchUrl: "https://lumen-medical.example/twelve-lead/launch",
    fhirScopes:
      "launch openid fhirUser patient/Patient.r patient/Encounter.r patient/ServiceRequest.rs patient/Observation.crs patient/DiagnosticReport.crus patient/Device.rs",
    featured: true,
    subscribers: 36,
    screenshotTitles: ["Tracings over time", "To be read", "Reading with calipers"],
    publishedAt: "2023-08-08T08:55:00.000Z",
    updatedAt: "2026-09-17T10:15:00.000Z",
    configSchema: null,
    plans: [
      {
        name: "By tracing",
        description: "Pay for what your carts record.",
        pricingModel: "USAGE",
        currency: "USD",
        amount: 85,
        interval: "MONTH",
        metric: "ecgs_recorded",
        aggregation: "COUNT",
        includedUnits: 20,
        features: ["20 tracings included", "Comparison", "All cart makers"],
      },
      {
        name: "By cart",
        description: "Unlimited tracings from each connected cart.",
        pricingModel: "PER_UNIT",
        currency: "USD",
        amount: 7900,
        interval: "MONTH",
        trialDays: 30,
        unitName: "cart",
        features: ["Unlimited tracings", "Cart worklists", "Reading queue", "Phone support"],
      },
    ],
  },
  {
    slug: "bellows-spirometry",
    vendor: "windlass-devices",
    name: "Bellows Spirometry",
    summary: "Guided spirometry with live curves, quality grades and a candle that children love to blow out.",
    description: `Bellows connects a handheld spirometer to the chart and coaches the patient through a good blow. The curve appears while they breathe, and the app tells you at once whether the effort can be used.

- Live flow-volume and volume-time curves, with the best three kept
- Acceptability and repeatability graded for each effort
- Reference values by the current international equations
- Before and after bronchodilator on a single page
- Candles, sailing boats and dandelions for younger lungs

### How it fits your day

Order the test, and the spirometer in the room wakes up with the patient's height and age. Results are written as observations with their grades, so that a trend over years compares good blows with good blows.`,
    category: "MEDICAL_DEVICE_INTEGRATION",
    audience: "CLINICIAN",
    version: "2.2.0",
    glyph: "lungs",
    hue: 225,
    extensionPoints: ["encounter-panel", "patient-chart-tab"],
    smartLaunchUrl: "https://windlass-devices.example/bellows/launch",
    fhirScopes:
      "launch openid fhirUser patient/Patient.r patient/ServiceRequest.rs patient/Observation.crs patient/DiagnosticReport.cr",
    featured: false,
    subscribers: 7,
    screenshotTitles: ["Lung function over time", "Tests ordered today"],
    publishedAt: "2025-04-15T13:45:00.000Z",
    updatedAt: "2026-04-07T09:35:00.000Z",
    configSchema: null,
    plans: [
      {
        name: "By spirometer",
        description: "Priced by connected device.",
        pricingModel: "PER_UNIT",
        currency: "USD",
        amount: 2500,
        interval: "MONTH",
        trialDays: 30,
        unitName: "spirometer",
        features: ["Unlimited tests", "Quality grades", "Children's mode"],
      },
      {
        name: "By spirometer, with device",
        description: "Includes a handheld spirometer and its yearly calibration check.",
        pricingModel: "PER_UNIT",
        currency: "USD",
        amount: 54000,
        interval: "YEAR",
        unitName: "spirometer",
        features: ["Spirometer included", "Calibration check", "Replacement in two days"],
      },
    ],
  },
  {
    slug: "vitals-dock",
    vendor: "windlass-devices",
    name: "Vitals Dock",
    summary: "Blood pressure, temperature, weight and oxygen from the trolley to the flowsheet without typing.",
    description: `Vitals Dock collects readings from the devices on your vital-signs trolley and files them with the right patient, the right time and the right device. Scan the wristband, take the readings, walk on.

- Over ninety device models: monitors, scales, thermometers, oximeters
- Patient association by wristband, worklist or room
- Out-of-range readings shown at once, and repeated before they are filed
- Device, cuff size and position recorded beside the value
- Readings stored on the trolley when the network is down

### Before you install

Each trolley needs a dock, a small box with two USB ports and Wi-Fi, which we ship preconfigured. Your network team needs to allow one outgoing connection to your own health record; nothing passes through our servers.`,
    category: "MEDICAL_DEVICE_INTEGRATION",
    audience: "BACKEND",
    version: "7.0.2",
    glyph: "thermometer",
    hue: 170,
    extensionPoints: ["encounter-panel", "settings"],
    smartLaunchUrl: null,
    fhirScopes: "system/Patient.rs system/Encounter.s system/Observation.c system/Device.crus",
    featured: false,
    subscribers: 41,
    screenshotTitles: ["Readings this shift", "Docks and devices"],
    publishedAt: "2023-02-14T10:00:00.000Z",
    updatedAt: "2026-05-12T14:20:00.000Z",
    configSchema: {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      properties: {
        dockToken: {
          type: "string",
          title: "Dock token",
          description: "Printed on the card in the box; lets your docks report here. Never shown again.",
          writeOnly: true,
        },
        confirmBeforeFiling: {
          type: "boolean",
          title: "Confirm before filing",
          description: "Readings wait for a nurse's confirmation on the dock.",
          default: true,
        },
        temperatureUnit: {
          type: "string",
          title: "Temperature unit",
          description: "Shown on the dock; stored values carry their unit.",
          enum: ["celsius", "fahrenheit"],
          default: "fahrenheit",
        },
      },
      additionalProperties: false,
    },
    plans: [
      {
        name: "Ward",
        description: "A flat price for up to eight docks.",
        pricingModel: "FLAT",
        currency: "USD",
        amount: 29900,
        interval: "MONTH",
        trialDays: 30,
        features: ["Up to 8 docks", "All device models", "Offline readings"],
      },
      {
        name: "Hospital",
        description: "Priced by dock, less for each one you add.",
        pricingModel: "TIERED",
        currency: "USD",
        amount: null,
        interval: "MONTH",
        unitName: "dock",
        tierMode: "GRADUATED",
        tiers: [
          { upTo: 20, unitAmount: 3500, flatAmount: 0 },
          { upTo: 100, unitAmount: 2600, flatAmount: 0 },
          { upTo: null, unitAmount: 1900, flatAmount: 0 },
        ],
        features: ["Unlimited docks", "Fleet view", "Spare docks on site", "Service level"],
      },
    ],
  },
  {
    slug: "marrowgate-viewer",
    vendor: "marrowgate",
    name: "Marrowgate Viewer",
    summary: "X-rays, ultrasound and MRI opened from the chart in a second, in any browser, with priors beside them.",
    description: `Marrowgate Viewer shows images where decisions are made. It opens from the result in the chart, streams the first picture in about a second, and finds the comparable prior without being asked.

- X-ray, CT, MRI, ultrasound and visible-light images in one viewer
- Windowing, measuring, spine labelling and cine, by mouse, touch or keyboard
- Priors matched by body part and projection rather than by date alone
- Key images marked by the radiologist shown first
- A patient-friendly view to explain a fracture on the big screen

### Before you install

The viewer talks DICOMweb to the archive you already have. You need its address and a token with read permission. It is intended for clinical review; primary reading remains with the radiologist's own workstation.`,
    category: "MEDICAL_DEVICE_INTEGRATION",
    audience: "CLINICIAN",
    version: "6.6.3",
    glyph: "bone",
    hue: 250,
    extensionPoints: ["patient-chart-tab", "encounter-panel"],
    smartLaunchUrl: "https://marrowgate.example/viewer/launch",
    fhirScopes: "launch openid fhirUser patient/Patient.r patient/ImagingStudy.rs patient/DiagnosticReport.rs",
    featured: false,
    subscribers: 49,
    screenshotTitles: ["Measurements over time", "Studies to review", "Report and key images"],
    publishedAt: "2023-05-16T14:35:00.000Z",
    updatedAt: "2026-10-12T15:25:00.000Z",
    configSchema: {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      properties: {
        archiveUrl: {
          type: "string",
          title: "Archive address",
          description: "The DICOMweb root of your image archive.",
          pattern: "^https://",
        },
        archiveToken: {
          type: "string",
          title: "Archive token",
          description: "Needs read permission only. Never shown again.",
          writeOnly: true,
        },
      },
      required: ["archiveUrl"],
      additionalProperties: false,
    },
    plans: [
      {
        name: "By study",
        description: "A price for each study that is opened, falling with volume.",
        pricingModel: "TIERED",
        currency: "EUR",
        amount: null,
        interval: "MONTH",
        trialDays: 30,
        unitName: "opened study",
        tierMode: "VOLUME",
        tiers: [
          { upTo: 200, unitAmount: 60, flatAmount: 0 },
          { upTo: 2000, unitAmount: 38, flatAmount: 0 },
          { upTo: null, unitAmount: "19.5", flatAmount: 0 },
        ],
        features: ["All modalities", "Prior matching", "Unlimited users"],
      },
      {
        name: "Site",
        description: "A yearly price for one site.",
        pricingModel: "FLAT",
        currency: "EUR",
        amount: 640000,
        interval: "YEAR",
        features: ["Unlimited studies", "Patient view", "Own hanging protocols", "Phone support"],
      },
    ],
  },
];
