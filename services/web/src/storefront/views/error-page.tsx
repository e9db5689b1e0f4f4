import type { ErrorData, PageContext } from "../page-data.ts";
import { texts } from "../texts.ts";
import { MessagePage } from "./message-page.tsx";

const t = texts.error;

function describe({ status, code, detail }: ErrorData): { title: string; text: string } {
  if (status === 404) return { title: t.notFoundTitle, text: t.notFound };
  if (code === "upstream-unavailable") return { title: t.catalogTitle, text: t.catalog };
  if (status === 429) return { title: t.tooManyTitle, text: t.tooMany };
  if (status === 503) return { title: t.unavailableTitle, text: t.unavailable };
  if (status >= 500) return { title: t.failedTitle, text: t.failed };
  return { title: t.invalidTitle, text: detail };
}

export function ErrorPage({ data, context }: { data: ErrorData; context: PageContext }) {
  const actions = [
    { href: "/apps", text: t.toApps },
    { href: "/", text: t.toHome },
    ...(context.supportUrl === undefined ? [] : [{ href: context.supportUrl, text: texts.site.help }]),
  ];
  const note = { name: t.requestId, value: data.requestId };
  return <MessagePage data={{ ...describe(data), label: t.status(data.status), actions, note }} context={context} />;
}
