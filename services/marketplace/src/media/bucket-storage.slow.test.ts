import { readdir } from "node:fs/promises";
import { createBucketStorage } from "./bucket-storage.ts";
import { testStorage } from "./storage.test-support.ts";
import { startVersityGw } from "./versitygw.test-support.ts";

testStorage("a bucket of VersityGW", async (cleanUp) => {
  const { folder, ...config } = await startVersityGw(cleanUp);
  const storage = createBucketStorage(config);
  cleanUp(async () => storage.stop());
  return { storage, list: async () => (await readdir(folder)).filter((name) => !name.startsWith(".")) };
});
