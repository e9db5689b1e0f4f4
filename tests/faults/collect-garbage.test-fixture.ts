// Runs a garbage collection on SIGWINCH, so that a test can measure live memory. Other signals stop the process.
process.on("SIGWINCH", () => globalThis.gc?.());
