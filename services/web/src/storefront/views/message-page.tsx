import type { MessageData, PageContext } from "../page-data.ts";
import { Layout } from "./layout.tsx";

/** A page that says one thing: what has happened, and where to go on. */
export function MessagePage({ data, context }: { data: MessageData; context: PageContext }) {
  const { label, title, text, actions, note } = data;
  return (
    <Layout context={context} title={title} description={text}>
      <div className="error-page">
        {label !== undefined && <p className="muted">{label}</p>}
        <h1>{title}</h1>
        <p className="lead">{text}</p>
        <p className="actions">
          {actions.map(({ href, text: name }, nth) => (
            <a key={href} className={nth === 0 ? "button" : "button quiet"} href={href}>
              {name}
            </a>
          ))}
        </p>
        {note !== undefined && (
          <p className="muted small">
            {note.name}: <code>{note.value}</code>
          </p>
        )}
      </div>
    </Layout>
  );
}
