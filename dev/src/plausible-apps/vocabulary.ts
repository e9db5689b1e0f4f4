/** Parts of the names and texts of generated apps. */
export const onsets = "b br c cl d dr f fl g gr h j k l m n p pl qu r s st t tr v w z".split(" ");
export const nuclei = "a e i o u ai ea io ou ee".split(" ");
export const codas = " n r l s x m nd rt th ck lo ra via mo na sy den ta".split(" ");

export const products = (
  "Scheduler Scribe Intake Ledger Claims Referrals Registry Rounds Inbox Orders Vitals Telehealth Reminders Pathways " +
  "Dictation Records Portal Insights Monitor Companion Navigator Checklist Formulary Eligibility Triage Library Signals " +
  "Messenger Forms Coding Imaging Labs Refills Consent Surveys Outreach Transitions Audit Staffing Inventory Scanner " +
  "Kiosk Printing Spirometry Glucose Oximetry Cardiology Dermatology Pediatrics Oncology Therapy Rehab Nutrition Sleep"
).split(" ");

export const qualifiers = (
  "Care Health Clinic Practice Patient Medical Family Rapid Clear Simple Smart Bright Open Direct Daily Trusted Gentle " +
  "Modern Complete Essential Connected Guided Quiet Steady True"
).split(" ");

export const actors = (
  "front desk staff|clinicians|nurses|care teams|billing specialists|practice managers|medical assistants|physicians|" +
  "patients and families|referral coordinators|therapists|pharmacists|quality teams|office administrators"
).split("|");

export const actions = (
  "schedule visits|capture vitals|draft clinical notes|check insurance eligibility|submit claims|track referrals|" +
  "send reminders|collect consent forms|review laboratory results|reconcile medications|request prior authorization|" +
  "monitor chronic conditions|close care gaps|summarise outside records|route messages|screen for depression|" +
  "document immunizations|stage tumours|measure blood pressure at home|answer patient questions|scan insurance cards|" +
  "print wristbands|calculate cardiac risk|plan discharges|prepare audits|order imaging|reorder supplies|train staff"
).split("|");

export const benefits = (
  "without leaving the chart|in half the clicks|before the patient arrives|with a full audit trail|on any device|" +
  "at the point of care|between visits|from one shared worklist|with evidence beside every suggestion|overnight|" +
  "in the patient's own language|even when the network is slow|with no second login|while the visit goes on"
).split("|");

export const details = (
  "Works with the appointments, problems and medications that are already recorded.|" +
  "Every suggestion shows where it came from, and a clinician decides.|" +
  "Reports can be exported for quality programmes and board meetings.|" +
  "Set-up takes an afternoon; our team trains yours in two short sessions.|" +
  "Alerts are grouped by urgency so that nobody drowns in them.|" +
  "Templates can be shared across locations and adapted per provider.|" +
  "Data stays encrypted in transit and at rest, and access is logged.|" +
  "Batch work runs at night and is ready when the first patient checks in.|" +
  "Families can take part with a proxy account of their own.|" +
  "Follow-ups are created as tasks and never fall between two chairs."
).split("|");
