export { type JudgedQuery, reportedQueries, tuningQueries } from "./judged-queries.ts";
export { measureRelevance, type Relevance } from "./measure-relevance.ts";
