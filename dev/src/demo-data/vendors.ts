import type { DemoVendor } from "./demo-app.ts";

export const demoVendors: DemoVendor[] = [
  { slug: "northwind-health", name: "Northwind Health", websiteUrl: "https://northwind-health.example" },
  { slug: "lumen-medical", name: "Lumen Medical", websiteUrl: "https://lumen-medical.example" },
  { slug: "copperfinch", name: "Copperfinch Clinical", websiteUrl: "https://copperfinch.example" },
  { slug: "edelgrat", name: "Edelgrat Digital", websiteUrl: "https://edelgrat.example" },
  { slug: "emberyard", name: "Emberyard", websiteUrl: "https://emberyard.example" },
  { slug: "fernhollow", name: "Fernhollow Labs", websiteUrl: "https://fernhollow.example" },
  { slug: "gullhaven", name: "Gullhaven Rx", websiteUrl: "https://gullhaven.example" },
  { slug: "kestrelway", name: "Kestrelway", websiteUrl: "https://kestrelway.example" },
  { slug: "marrowgate", name: "Marrowgate Imaging", websiteUrl: "https://marrowgate.example" },
  { slug: "mossgate", name: "Mossgate Analytics", websiteUrl: "https://mossgate.example" },
  { slug: "otterbourne", name: "Otterbourne Clinical Software", websiteUrl: "https://otterbourne.example" },
  { slug: "penasol", name: "Peñasol Salud", websiteUrl: "https://penasol.example" },
  { slug: "pocketlark", name: "Pocketlark", websiteUrl: "https://pocketlark.example" },
  { slug: "quillmoor", name: "Quillmoor", websiteUrl: "https://quillmoor.example" },
  { slug: "sundial-row", name: "Sundial Row", websiteUrl: "https://sundial-row.example" },
  { slug: "tallowmere", name: "Tallowmere Ledger", websiteUrl: "https://tallowmere.example" },
  { slug: "tarnbrook", name: "Tarnbrook Systems", websiteUrl: "https://tarnbrook.example" },
  { slug: "thornwick", name: "Thornwick Data", websiteUrl: "https://thornwick.example" },
  { slug: "vallee-claire", name: "Vallée Claire Santé", websiteUrl: "https://vallee-claire.example" },
  { slug: "windlass-devices", name: "Windlass Devices", websiteUrl: "https://windlass-devices.example" },
];
