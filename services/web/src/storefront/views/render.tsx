import type { ReactNode } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import type {
  AppData,
  ErrorData,
  HomeData,
  MessageData,
  PageContext,
  ResultsData,
  VendorData,
  VersionsData,
} from "../page-data.ts";
import { AppPage } from "./app-page.tsx";
import { ErrorPage } from "./error-page.tsx";
import { HomePage } from "./home-page.tsx";
import { MessagePage } from "./message-page.tsx";
import { ResultsPage } from "./results-page.tsx";
import { VendorPage } from "./vendor-page.tsx";
import { VersionsPage } from "./versions-page.tsx";

export { prepareMarkdown } from "../markdown-html.ts";

const write = (page: ReactNode): string => `<!doctype html>${renderToStaticMarkup(page)}`;

/** The entry of the server's build: each page as HTML. */
export const pages = {
  home: (data: HomeData, context: PageContext): string => write(<HomePage data={data} context={context} />),
  results: (data: ResultsData, context: PageContext): string => write(<ResultsPage data={data} context={context} />),
  app: (data: AppData, context: PageContext): string => write(<AppPage data={data} context={context} />),
  vendor: (data: VendorData, context: PageContext): string => write(<VendorPage data={data} context={context} />),
  versions: (data: VersionsData, context: PageContext): string => write(<VersionsPage data={data} context={context} />),
  message: (data: MessageData, context: PageContext): string => write(<MessagePage data={data} context={context} />),
  error: (data: ErrorData, context: PageContext): string => write(<ErrorPage data={data} context={context} />),
};
