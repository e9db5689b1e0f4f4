// Lets a test ask a process for what it really holds, without what only waits to be collected. Other signals stop it.
process.on("SIGWINCH", () => globalThis.gc?.());
