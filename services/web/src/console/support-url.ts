/** Where people reach the operator's support, as the page says; without it, nothing links there. */
export const supportUrl = document.querySelector<HTMLLinkElement>('link[rel="help"]')?.href;
