// Loaded into the API's process with --import: replies to each message of the parent process with its CPU time.
process.on("message", () => process.send?.({ cpu: process.cpuUsage() }));
