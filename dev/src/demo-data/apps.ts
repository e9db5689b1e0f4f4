import { careCoordinationApps } from "./apps/care-coordination.ts";
import { clinicalDecisionSupportApps } from "./apps/clinical-decision-support.ts";
import { documentationApps } from "./apps/documentation.ts";
import { ehrEfficiencyApps } from "./apps/ehr-efficiency.ts";
import { financialApps } from "./apps/financial.ts";
import { frontOfficeApps } from "./apps/front-office.ts";
import { medicalDeviceIntegrationApps } from "./apps/medical-device-integration.ts";
import { officeAdministrationApps } from "./apps/office-administration.ts";
import { officeDeviceIntegrationApps } from "./apps/office-device-integration.ts";
import { orderingPrescribingApps } from "./apps/ordering-prescribing.ts";
import { patientEngagementApps } from "./apps/patient-engagement.ts";
import { populationHealthApps } from "./apps/population-health.ts";
import { recordsManagementApps } from "./apps/records-management.ts";
import { remoteCareApps } from "./apps/remote-care.ts";
import { specialtyEhrApps } from "./apps/specialty-ehr.ts";
import type { DemoApp } from "./demo-app.ts";

/** The demo app's server runs the background service of this app, beside the app that is launched. */
export const backgroundAppSlug = "northwind-watch";

export function demoApps(demoAppUrl: string): DemoApp[] {
  const apps = [
    ...frontOfficeApps,
    ...financialApps,
    ...officeAdministrationApps,
    ...officeDeviceIntegrationApps,
    ...documentationApps(demoAppUrl),
    ...recordsManagementApps,
    ...careCoordinationApps,
    ...populationHealthApps,
    ...ehrEfficiencyApps,
    ...orderingPrescribingApps,
    ...medicalDeviceIntegrationApps,
    ...specialtyEhrApps,
    ...patientEngagementApps,
    ...clinicalDecisionSupportApps,
    ...remoteCareApps,
  ];
  return apps.map((app) => (app.slug === backgroundAppSlug ? { ...app, jwksUri: `${demoAppUrl}/jwks.json` } : app));
}
