// Loaded into the API's process with --import: it tells its parent its CPU time when asked, and changes nothing else.
process.on("message", () => process.send?.({ cpu: process.cpuUsage() }));
