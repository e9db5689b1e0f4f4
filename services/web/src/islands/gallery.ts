import { createElement } from "./elements.ts";

/** Opens the pictures of a list in a dialog on the page. The arrow keys lead through them, Escape closes. */
export function startGallery(list: HTMLElement): void {
  const links = [...list.querySelectorAll<HTMLAnchorElement>("a")];
  const { gallery = "", close = "", previous = "", next = "" } = list.dataset;
  let shown = 0;

  const picture = createElement("img");
  const caption = createElement("p");
  caption.setAttribute("aria-live", "polite");
  const createButton = (text: string, onclick: () => void): HTMLButtonElement =>
    createElement("button", { type: "button", className: "button quiet", textContent: text, onclick });
  const show = (index: number): void => {
    shown = (index + links.length) % links.length;
    const link = links[shown];
    const text = link?.querySelector("img")?.alt ?? "";
    picture.src = link?.href ?? "";
    picture.alt = text;
    caption.textContent = `${shown + 1} / ${links.length} ${text}`;
  };
  const steps =
    links.length > 1 ? [createButton(previous, () => show(shown - 1)), createButton(next, () => show(shown + 1))] : [];
  const bar = createElement("div", { className: "viewer-bar" }, [
    caption,
    ...steps,
    createButton(close, () => dialog.close()),
  ]);
  const dialog = createElement("dialog", { className: "viewer" }, [picture, bar]);
  dialog.setAttribute("aria-label", gallery);
  dialog.addEventListener("keydown", ({ key }) => {
    if (key === "ArrowLeft") show(shown - 1);
    if (key === "ArrowRight") show(shown + 1);
  });
  // The backdrop belongs to the dialog; its content covers the rest of it.
  dialog.addEventListener("click", ({ target }) => {
    if (target === dialog) dialog.close();
  });
  dialog.addEventListener("close", () => links[shown]?.focus());
  document.body.append(dialog);

  for (const [index, link] of links.entries()) {
    link.addEventListener("click", (event) => {
      // Other keys and buttons open the picture in a tab or a window, as with any link.
      if (event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      show(index);
      dialog.showModal();
    });
  }
}
