import {
  type ListNoticesQuery,
  listNoticesQuery,
  type NoticeSettings,
  noticeDto,
  noticePage,
  noticeParams,
  noticeSettingsDto,
  organisationNoticeParams,
  organisationParams,
  putNoticeSettingsBody,
} from "@ehr-marketplace/contracts";
import { getCaller, problemResponses, requireNoBody, responseOf } from "@ehr-marketplace/service-kit/http";
import type { Role } from "@ehr-marketplace/service-kit/tokens";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { requestContextOf } from "../access/request-context.ts";
import { requireRole } from "../access/require-role.ts";
import { vendorContextOf, vendorHeaders } from "../access/vendor-context.ts";
import { type NoticeAudience, operatorAudience, organisationAudience, vendorAudience } from "./notice-audience.ts";
import { putNoticeSettings, readNoticeSettings } from "./notice-settings.ts";
import { listNotices, markNoticeRead, type NoticeDeps } from "./read-notices.ts";

type Roles = readonly [Role, ...Role[]];

/** Where the notices of one kind of audience are. */
interface Section {
  path: string;
  /** In the ids of its operations, and in their summaries. */
  name: string;
  whose: string;
  readers: Roles;
  writers: Roles;
  headers?: object;
  params?: { list: object; one: object };
  /** The status if there is no such audience. */
  unknown: (404 | 422)[];
  /** Throws 403 if the caller may not act for it. */
  find: (request: FastifyRequest, allowed: Roles) => Promise<{ audience: NoticeAudience; role: Role }>;
}

const sectionsOf = ({ database }: NoticeDeps): Section[] => [
  {
    path: "/organisations/:alias",
    name: "Organisation",
    whose: "an organisation",
    readers: ["org-member", "org-admin", "operator", "auditor"],
    writers: ["org-admin", "operator"],
    params: { list: organisationParams, one: organisationNoticeParams },
    unknown: [404],
    async find(request, allowed) {
      const { alias } = request.params as { alias: string };
      const role = requireRole(getCaller(request), alias, allowed);
      return { audience: await organisationAudience(database, alias), role };
    },
  },
  {
    path: "/developer",
    name: "Vendor",
    whose: "a vendor",
    readers: ["vendor-developer", "operator"],
    writers: ["vendor-developer", "operator"],
    headers: vendorHeaders,
    unknown: [422],
    async find(request) {
      const { vendor, role } = vendorContextOf(request);
      return { audience: await vendorAudience(database, vendor), role };
    },
  },
  {
    path: "/admin",
    name: "Operator",
    whose: "the operators",
    readers: ["operator", "auditor"],
    writers: ["operator"],
    unknown: [],
    find: async () => ({ audience: operatorAudience, role: "operator" }),
  },
];

export async function noticeRoutes(scope: FastifyInstance, options: NoticeDeps): Promise<void> {
  for (const schema of [noticeDto, noticePage, noticeSettingsDto]) scope.addSchema(schema);
  for (const section of sectionsOf(options)) registerSection(scope, options, section);
}

function registerSection(scope: FastifyInstance, options: NoticeDeps, section: Section): void {
  const { path, name, whose, readers, writers, unknown, find } = section;
  const tags = ["Notices"];
  const headers = section.headers === undefined ? {} : { headers: section.headers };
  const inList = { tags, ...headers, ...(section.params === undefined ? {} : { params: section.params.list }) };

  scope.get(
    `${path}/notices`,
    {
      config: { access: readers },
      schema: {
        ...inList,
        operationId: `list${name}Notices`,
        summary: `List the notices of ${whose}`,
        description:
          "What somebody should know or do, newest first. Never about a patient. Notices are kept for 400 days, or for 90 days once they are read.",
        querystring: listNoticesQuery,
        response: { 200: responseOf("The notices", "NoticePage"), ...problemResponses(401, 403, ...unknown) },
      },
    },
    async (request) => {
      const { audience } = await find(request, readers);
      return listNotices(options, audience, request.query as ListNoticesQuery);
    },
  );

  scope.post(
    `${path}/notices/:id/read`,
    {
      config: { access: writers },
      preValidation: requireNoBody,
      schema: {
        tags,
        ...headers,
        params: section.params?.one ?? noticeParams,
        operationId: `mark${name}NoticeRead`,
        summary: `Mark a notice of ${whose} as read`,
        description: "For everyone who reads it. If it is read already, its `readAt` stays.",
        response: {
          200: responseOf("The notice", "NoticeDto"),
          ...problemResponses(401, 403, 404, 413, 415, ...unknown),
        },
      },
    },
    async (request) => {
      const { audience } = await find(request, writers);
      return markNoticeRead(options, audience, (request.params as { id: string }).id);
    },
  );

  scope.get(
    `${path}/notice-settings`,
    {
      config: { access: readers },
      schema: {
        ...inList,
        operationId: `get${name}NoticeSettings`,
        summary: `Get where notices of ${whose} are mailed`,
        description: "One address, and the kinds that are not mailed.",
        response: { 200: responseOf("The settings", "NoticeSettingsDto"), ...problemResponses(401, 403, ...unknown) },
      },
    },
    async (request) => readNoticeSettings(options, (await find(request, readers)).audience),
  );

  scope.put(
    `${path}/notice-settings`,
    {
      config: { access: writers },
      schema: {
        ...inList,
        operationId: `put${name}NoticeSettings`,
        summary: `Set where notices of ${whose} are mailed`,
        description:
          "A new address gets a link to confirm it, and nothing else until then; putting the same settings again sends it once more in 24 hours. A mailbox gets at most three of these mails in 24 hours, from everyone; a further one follows when it may. Notices of the severities `warning` and `critical` are mailed at once, at most 20 an hour; the others are listed in a daily digest at 06:00 UTC. Notices from before an address was confirmed are not mailed.",
        body: putNoticeSettingsBody,
        response: {
          200: responseOf("The settings", "NoticeSettingsDto"),
          ...problemResponses(401, 403, ...unknown, 413, 415),
        },
      },
    },
    async (request) => {
      const { audience, role } = await find(request, writers);
      const by = { ...requestContextOf(request), role };
      return putNoticeSettings(options, by, audience, request.body as NoticeSettings);
    },
  );
}
