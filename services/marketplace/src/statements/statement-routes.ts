import { Readable } from "node:stream";
import {
  chargeLine,
  monthParams,
  organisationParams,
  type PageQuery,
  pageQuery,
  type StatementQuery,
  statementDto,
  statementLine,
  statementPage,
  statementParams,
  statementQuery,
  statementTotal,
  streamedStatement,
  vendorBalance,
  vendorStatementDto,
  vendorStatementLine,
  vendorStatementPage,
  vendorTotal,
} from "@ehr-marketplace/contracts";
import {
  getCaller,
  ndjsonMediaType,
  problemResponses,
  RequestSlots,
  responseOf,
  standardProblems,
} from "@ehr-marketplace/service-kit/http";
import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { vendorContextOf, vendorHeaders } from "../access/vendor-context.ts";
import { csvMediaType } from "./csv.ts";
import type { ReadDeps } from "./read-months.ts";
import {
  listOrganisationStatements,
  readOrganisationStatement,
  statementRoles,
  statementToCsv,
} from "./read-organisation-statements.ts";
import { listVendorStatements, openVendorCsv, readVendorStatement } from "./read-vendor-statements.ts";
import { openStatementStream } from "./stream-statements.ts";

const csv = { schema: { type: "string" } } as const;
const jsonOrCsv = (description: string, name: string): object => ({
  description,
  content: { "application/json": { schema: { $ref: `${name}#` } }, "text/csv": csv },
});
const formats =
  "As JSON, or with `Accept: text/csv` or `?format=csv` as CSV (RFC 4180) with a line for each line of the statement; text that a spreadsheet would calculate begins with an apostrophe.";

/** No browser asks for CSV by itself, so a link names it. */
function isCsv({ query, headers }: FastifyRequest): boolean {
  const { format } = query as StatementQuery;
  if (format !== undefined) return format === "csv";
  const { accept = "" } = headers;
  return accept.includes("text/csv") && !accept.includes("application/json");
}

const sendCsv = (reply: FastifyReply, name: string, payload: string | Readable): FastifyReply =>
  reply
    .type(csvMediaType)
    .header("content-disposition", `attachment; filename="${name}.csv"`)
    .header("x-content-type-options", "nosniff")
    .send(payload);

/** Whoever reads slowly keeps a slot, so that others can still read. */
const createStreamSlots = (): RequestSlots =>
  new RequestSlots({
    total: 16,
    perKey: 2,
    problem: standardProblems.overloaded,
    detail: "You are reading two streams of statements, which is the limit.",
  });

/** Of a HEAD request nothing is read. */
const streamUnlessHead = async (
  slots: RequestSlots,
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
  open: () => Promise<Readable>,
): Promise<Readable> => {
  const isHead = request.method === "HEAD";
  const { issuer, subject } = getCaller(request);
  const stream = isHead ? await open() : await slots.take(request, reply, `${issuer} ${subject}`).run(open);
  if (!isHead) return stream;
  stream.destroy();
  return Readable.from([]);
};

export async function statementRoutes(scope: FastifyInstance, options: ReadDeps): Promise<void> {
  const schemas = [
    chargeLine,
    statementLine,
    statementTotal,
    statementPage,
    statementDto,
    vendorTotal,
    vendorStatementLine,
    vendorStatementPage,
    vendorBalance,
    vendorStatementDto,
    streamedStatement,
  ];
  for (const schema of schemas) scope.addSchema(schema);
  const routes = scope.withTypeProvider<TypeBoxTypeProvider>();
  const tags = ["Billing"];
  const slots = createStreamSlots();

  routes.get(
    "/organisations/:alias/statements",
    {
      config: { access: [...statementRoles] },
      schema: {
        tags,
        operationId: "listStatements",
        summary: "List an organisation's statements",
        description:
          "One for each calendar month in UTC, the newest first. The current month is open, and shows what it costs so far, today included.",
        params: organisationParams,
        querystring: pageQuery,
        response: { 200: responseOf("A page of statements", "StatementPage"), ...problemResponses(401, 403, 404) },
      },
    },
    (request) =>
      listOrganisationStatements(options, getCaller(request), request.params.alias, request.query as PageQuery),
  );

  routes.get(
    "/organisations/:alias/statements/:month",
    {
      config: { access: [...statementRoles] },
      schema: {
        tags,
        operationId: "readStatement",
        summary: "Read an organisation's statement of a month",
        description: `What each subscription cost. ${formats} A month is closed on the fourth day after it: then its statement never changes. Usage that is reported, or taken back, later is corrected by a line of the next statement. Lines that cost nothing are left out, and so are sandbox organisations.`,
        params: statementParams,
        querystring: statementQuery,
        response: { 200: jsonOrCsv("The statement", "StatementDto"), ...problemResponses(401, 403, 404) },
      },
    },
    async (request, reply) => {
      const { alias, month } = request.params;
      const statement = await readOrganisationStatement(options, getCaller(request), alias, month);
      void reply.header("vary", "accept");
      return isCsv(request)
        ? sendCsv(reply, `statement-${alias}-${month}`, statementToCsv(statement))
        : reply.send(statement);
    },
  );

  routes.get(
    "/developer/statements",
    {
      config: { access: ["vendor-developer", "operator"] },
      schema: {
        tags,
        operationId: "listVendorStatements",
        summary: "List a vendor's statements",
        description:
          "What the vendor earned in each calendar month in UTC, the newest first. An open month is calculated once a day.",
        headers: vendorHeaders,
        querystring: pageQuery,
        response: {
          200: responseOf("A page of statements", "VendorStatementPage"),
          ...problemResponses(401, 403, 422),
        },
      },
    },
    (request) => listVendorStatements(options, vendorContextOf(request), request.query as PageQuery),
  );

  routes.get(
    "/developer/statements/:month",
    {
      config: { access: ["vendor-developer", "operator"], isStreamed: true },
      schema: {
        tags,
        operationId: "readVendorStatement",
        summary: "Read a vendor's statement of a month",
        description: `What practices were charged for the vendor's apps, and the marketplace's commission. A correction of an earlier month has lines of its own, at the commission of that month. The balances say what is due, with what is carried over. ${formats} The CSV has the lines of each subscription, and the commission and what is carried over last. An open month is calculated once a day.`,
        headers: vendorHeaders,
        params: monthParams,
        querystring: statementQuery,
        response: { 200: jsonOrCsv("The statement", "VendorStatementDto"), ...problemResponses(401, 403, 404, 422) },
      },
    },
    async (request, reply) => {
      const { month } = request.params;
      const by = vendorContextOf(request);
      void reply.header("vary", "accept");
      if (!isCsv(request)) return reply.send(await readVendorStatement(options, by, month));
      const lines = await streamUnlessHead(slots, { request, reply }, () => openVendorCsv(options, by, month));
      return sendCsv(reply, `statement-${by.vendor}-${month}`, lines);
    },
  );

  routes.get(
    "/admin/statements/:month",
    {
      config: { access: ["operator", "billing", "auditor"], isStreamed: true },
      schema: {
        tags,
        operationId: "streamStatements",
        summary: "Read all statements of a month",
        description:
          "For billing systems, as a stream of lines of JSON: a `statement` for each organisation and currency, then a `vendor` for each vendor and currency, and for each month that is corrected, followed by the `balance` of that vendor and currency, then the `end` with the number of both and the totals. Without the `end` the stream is incomplete: request it again. It has no time limit while it is being read. The statements of a closed month are the same whenever they are read; an open month is calculated once a day.",
        params: monthParams,
        response: {
          200: {
            description: "One line for each statement",
            content: { [ndjsonMediaType]: { schema: { $ref: "StreamedStatement#" } } },
          },
          ...problemResponses(401, 403, 404),
        },
      },
    },
    async (request, reply) => {
      const lines = await streamUnlessHead(slots, { request, reply }, () =>
        openStatementStream(options, request.params.month),
      );
      return reply.type(ndjsonMediaType).send(lines);
    },
  );
}
