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

export function demoApps(demoAppUrl: string): DemoApp[] {
  return [
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
}
