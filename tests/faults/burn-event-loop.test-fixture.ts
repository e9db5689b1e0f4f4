// Loaded into the API's process with --import: on SIGWINCH it keeps the event loop busy for ten seconds.
const burnMs = 10_000;
const sliceMs = 400;

process.on("SIGWINCH", () => {
  const until = performance.now() + burnMs;
  const slice = (): void => {
    const pause = performance.now() + sliceMs;
    while (performance.now() < pause);
    if (performance.now() < until) setTimeout(slice, 0);
  };
  slice();
});
