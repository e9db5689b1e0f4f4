// Takes as many ports as the argument says, sends them to the parent process, and keeps them until it is killed or its parent ends.
import { freePort } from "./free-port.ts";

const ports = await Promise.all(Array.from({ length: Number(process.argv[2]) }, () => freePort()));
process.send?.(ports);
process.channel?.ref();
