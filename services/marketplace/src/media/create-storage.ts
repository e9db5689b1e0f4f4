import { mkdir } from "node:fs/promises";
import { type BucketConfig, createBucketStorage } from "./bucket-storage.ts";
import { createFolderStorage } from "./folder-storage.ts";
import type { MediaStorage } from "./media-storage.ts";

/** Creates the storage that is configured: a bucket, or a folder. */
export async function createStorage(config: { directory: string } | BucketConfig): Promise<MediaStorage> {
  if ("bucket" in config) return createBucketStorage(config);
  await mkdir(config.directory, { recursive: true });
  return createFolderStorage(config.directory);
}
