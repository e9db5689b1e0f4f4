import type { ErrorData, PageContext } from "../page-data.ts";
import { texts } from "../texts.ts";
import { Layout } from "./layout.tsx";

const t = texts.error;

function describe({ status, detail }: ErrorData): { title: string; text: string } {
  if (status === 404) return { title: t.notFoundTitle, text: t.notFound };
  if (status === 503) return { title: t.unavailableTitle, text: t.unavailable };
  if (status >= 500) return { title: t.failedTitle, text: t.failed };
  return { title: t.invalidTitle, text: detail };
}

export function ErrorPage({ data, context }: { data: ErrorData; context: PageContext }) {
  const { title, text } = describe(data);
  return (
    <Layout context={context} title={title} description={text}>
      <div className="error-page">
        <p className="muted">{t.status(data.status)}</p>
        <h1>{title}</h1>
        <p className="lead">{text}</p>
        <p className="actions">
          <a className="button" href="/apps">
            {t.toApps}
          </a>
          <a className="button quiet" href="/">
            {t.toHome}
          </a>
        </p>
        <p className="muted small">
          {t.requestId}: <code>{data.requestId}</code>
        </p>
      </div>
    </Layout>
  );
}
