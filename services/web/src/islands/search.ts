import { createElement } from "./elements.ts";

interface Suggestion {
  name: string;
  vendor: string;
  iconUrl: string;
  href: string;
}

interface Suggestions {
  apps: Suggestion[];
  /** Leads to all results. */
  all: { text: string; href: string };
}

const delayMs = 150;
const minLength = 2;
const listId = "suggestions";

/** Suggests apps while a person types, as a combobox (ARIA Authoring Practices). Without it, the form leads to the results. */
export function startSearch(field: HTMLInputElement): void {
  const list = createElement("div", { id: listId, className: "suggestions", hidden: true });
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", field.dataset["search"] ?? "");
  field.after(list);
  for (const [name, value] of Object.entries({
    role: "combobox",
    "aria-autocomplete": "list",
    "aria-expanded": "false",
    "aria-controls": listId,
  })) {
    field.setAttribute(name, value);
  }

  let timer = 0;
  let requested = new AbortController();
  let selected = -1;
  const options = (): HTMLElement[] => [...list.querySelectorAll<HTMLElement>("[role=option]")];

  const close = (): void => {
    requested.abort();
    clearTimeout(timer);
    list.hidden = true;
    selected = -1;
    field.setAttribute("aria-expanded", "false");
    field.removeAttribute("aria-activedescendant");
  };
  const select = (index: number): void => {
    const all = options();
    selected = all.length === 0 ? -1 : (index + all.length) % all.length;
    for (const [nth, option] of all.entries()) option.setAttribute("aria-selected", String(nth === selected));
    const id = all[selected]?.id;
    if (id !== undefined) field.setAttribute("aria-activedescendant", id);
  };
  const open = ({ apps, all }: Suggestions): void => {
    list.replaceChildren(...apps.map(createOption), createAllOption(all));
    for (const [nth, option] of options().entries()) option.id = `${listId}-${nth}`;
    selected = -1;
    field.removeAttribute("aria-activedescendant");
    list.hidden = false;
    field.setAttribute("aria-expanded", "true");
  };
  const update = async (): Promise<void> => {
    requested.abort();
    requested = new AbortController();
    const { signal } = requested;
    try {
      const response = await fetch(`/suggestions?${new URLSearchParams({ q: field.value })}`, { signal });
      if (response.ok && !signal.aborted) open((await response.json()) as Suggestions);
    } catch {
      // Suggestions are a help only: the form works without them.
    }
  };

  field.addEventListener("input", () => {
    clearTimeout(timer);
    if (field.value.trim().length < minLength) close();
    else timer = setTimeout(() => void update(), delayMs);
  });
  field.addEventListener("blur", () => close());
  // The field would lose the focus, and close the list before the click arrives.
  list.addEventListener("mousedown", (event) => event.preventDefault());
  field.addEventListener("keydown", (event) => {
    if (list.hidden) return;
    if (event.key === "ArrowDown") select(selected + 1);
    else if (event.key === "ArrowUp") select(selected === -1 ? -1 : selected - 1);
    else if (event.key === "Escape") close();
    else if (event.key === "Enter" && selected !== -1) options()[selected]?.click();
    else return;
    event.preventDefault();
  });
}

function createOption({ name, vendor, iconUrl, href }: Suggestion): HTMLElement {
  const icon = createElement("img", { src: iconUrl, alt: "", width: 40, height: 40, className: "icon" });
  const option = createElement("div", { className: "suggestion", onclick: () => location.assign(href) }, [
    icon,
    createElement("strong", { textContent: name }),
    createElement("span", { textContent: vendor }),
  ]);
  option.setAttribute("role", "option");
  option.setAttribute("aria-selected", "false");
  return option;
}

function createAllOption({ text, href }: Suggestions["all"]): HTMLElement {
  const onclick = (): void => location.assign(href);
  const option = createElement("div", { className: "suggestion all", textContent: text, onclick });
  option.setAttribute("role", "option");
  option.setAttribute("aria-selected", "false");
  return option;
}
