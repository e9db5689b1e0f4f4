const stops = new Set<() => void>();

process.once("exit", () => {
  for (const stop of stops) stop();
});

/** Stops a child process if this one is ended before the test is: then no test cleans up. Returns what forgets it. */
export function stopAtExit(stop: () => void): () => void {
  stops.add(stop);
  return () => stops.delete(stop);
}
