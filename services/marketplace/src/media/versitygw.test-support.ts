import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { access, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "@ehr-marketplace/dev/free-port";
import { type CleanUp, eventually } from "@ehr-marketplace/test-kit";
import type { BucketConfig } from "./bucket-storage.ts";

const binary = new URL("../../../../.tools/bin/versitygw", import.meta.url).pathname;
const credentials = { accessKeyId: "test-access", secretAccessKey: "test-secret-of-the-gateway" };

/** Starts VersityGW, a real S3-compatible server, with an empty bucket. Its files are in a temporary folder. */
export async function startVersityGw(cleanUp: CleanUp): Promise<BucketConfig & { endpoint: string; folder: string }> {
  await access(binary).catch(() =>
    assert.fail("VersityGW is missing, which needs Go: install Go, then run: npm run setup:versitygw"),
  );
  const directory = await mkdtemp(join(tmpdir(), "versitygw-"));
  cleanUp(() => rm(directory, { recursive: true, force: true }));
  const bucket = "media";
  await mkdir(join(directory, bucket));
  const port = await freePort();
  const gateway = spawn(binary, ["--port", `127.0.0.1:${port}`, "posix", directory], {
    env: { ROOT_ACCESS_KEY_ID: credentials.accessKeyId, ROOT_SECRET_ACCESS_KEY: credentials.secretAccessKey },
    stdio: "ignore",
  });
  const exited = once(gateway, "exit");
  cleanUp(async () => {
    gateway.kill("SIGKILL");
    await exited;
  });
  const endpoint = `http://127.0.0.1:${port}`;
  await eventually("VersityGW responds", 30_000, async () => {
    assert.equal(gateway.exitCode, null, "VersityGW has exited");
    return fetch(endpoint).then(
      () => true,
      () => false,
    );
  });
  return { bucket, endpoint, region: "us-east-1", credentials, folder: join(directory, bucket) };
}
