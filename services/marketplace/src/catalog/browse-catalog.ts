import type { CategoryDto, ListAppsQuery, SearchAppsQuery } from "@ehr-marketplace/contracts";
import { slugPattern } from "@ehr-marketplace/contracts";
import {
  type AnswerCache,
  invalidRequest,
  Problem,
  type Representation,
  representationOf,
} from "@ehr-marketplace/service-kit/http";
import type { Kysely } from "kysely";
import type { DB } from "../database-schema.ts";
import { pageJson, pageRequest } from "./app-page.ts";
import { catalogProblems } from "./catalog-errors.ts";
import {
  findApp,
  findCategories,
  findFeatured,
  findMatching,
  findMostPopular,
  findPage,
  findPricing,
} from "./catalog-store.ts";

export interface Browsing {
  database: Kysely<DB>;
  answers: AnswerCache;
}

type Answer = Representation | Promise<Representation>;

const mostFound = 100;
const slug = new RegExp(slugPattern);

const answerOf = (json: string): Representation =>
  representationOf(json, {
    contentType: "application/json; charset=utf-8",
    cacheControl: "public, max-age=30, stale-while-revalidate=60",
  });

const arrayOf = (apps: string[]): Representation => answerOf(`[${apps.join(",")}]`);

export function listApps(browsing: Browsing, query: ListAppsQuery): Answer {
  const request = pageRequest(query);
  return browsing.answers.get(`list ${JSON.stringify(request)}`, async () =>
    answerOf(pageJson(request, await findPage(browsing.database, request))),
  );
}

export function searchApps(browsing: Browsing, query: SearchAppsQuery): Answer {
  const text = query.q?.trim() ?? "";
  const { category } = query;
  const most = Math.min(query.limit, mostFound);
  if (text === "" && category === undefined) {
    throw invalidRequest("/query/q", "is required, unless category is given");
  }
  return browsing.answers.get(`search ${JSON.stringify([text, category, most])}`, async () =>
    arrayOf(
      text === "" && category !== undefined
        ? await findMostPopular(browsing.database, category, most)
        : await findMatching(browsing.database, { text, category, most }),
    ),
  );
}

export function listFeatured(browsing: Browsing): Answer {
  return browsing.answers.get("featured", async () => arrayOf(await findFeatured(browsing.database)));
}

export function listCategories(browsing: Browsing): Answer {
  return browsing.answers.get("categories", async () => {
    const categories: CategoryDto[] = await findCategories(browsing.database);
    return answerOf(JSON.stringify(categories));
  });
}

export function getApp(browsing: Browsing, given: string): Answer {
  return ofApp(browsing, "app", given, findApp);
}

export function getPricing(browsing: Browsing, given: string): Answer {
  return ofApp(browsing, "pricing", given, findPricing);
}

function ofApp(browsing: Browsing, what: string, given: string, find: typeof findApp): Answer {
  const absent = (): Problem => new Problem(catalogProblems.appNotFound, "No published app has that slug.");
  if (!slug.test(given)) throw absent();
  return browsing.answers.get(`${what} ${given}`, async () => {
    const json = await find(browsing.database, given);
    if (json === undefined) throw absent();
    return answerOf(json);
  });
}
