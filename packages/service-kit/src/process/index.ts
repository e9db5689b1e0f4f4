export { layFoundation } from "./lay-foundation.ts";
