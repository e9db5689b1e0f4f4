import { startGallery } from "./gallery.ts";
import { startSearch } from "./search.ts";
import { isSignedIn } from "./signed-in.ts";

for (const list of document.querySelectorAll<HTMLElement>("[data-gallery]")) startGallery(list);
// Pages are the same for everyone, and the session's cookie isn't readable: the console has noted that somebody is signed in.
const link = document.querySelector<HTMLElement>("[data-signed-in]");
if (link !== null && isSignedIn()) link.textContent = link.dataset["signedIn"] ?? "";
const field = document.querySelector<HTMLInputElement>("[data-search]");
if (field !== null) startSearch(field);
