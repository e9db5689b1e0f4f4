// Loaded before the page is drawn, so that it isn't drawn in another theme first. The page works without it, in the system's theme.
const key = "theme";
const root = document.documentElement;

function readChoice(): string | undefined {
  try {
    const stored = localStorage.getItem(key);
    return stored === "light" || stored === "dark" ? stored : undefined;
  } catch {
    // Storage may be forbidden.
    return undefined;
  }
}

const systemIsDark = matchMedia("(prefers-color-scheme: dark)");
const isDark = (): boolean =>
  root.dataset["theme"] === undefined ? systemIsDark.matches : root.dataset["theme"] === "dark";

const choice = readChoice();
if (choice !== undefined) root.dataset["theme"] = choice;

document.addEventListener("DOMContentLoaded", () => {
  const button = document.querySelector<HTMLButtonElement>("[data-theme-switch]");
  if (button === null) return;
  const show = (): void => button.setAttribute("aria-pressed", String(isDark()));
  button.hidden = false;
  show();
  systemIsDark.addEventListener("change", show);
  button.addEventListener("click", () => {
    root.dataset["theme"] = isDark() ? "light" : "dark";
    show();
    try {
      localStorage.setItem(key, root.dataset["theme"]);
    } catch {
      // The choice then lasts as long as the page.
    }
  });
});
