import { execFile } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { copyMedia, findImage, startImage } from "./cluster-images.ts";
import { templates } from "./templates.ts";
import type { PostgresVersion } from "./tiers.ts";

interface Part {
  /** What tests get to know. */
  description: unknown;
  stop?: () => Promise<unknown>;
}

interface Given {
  mediaDirectory: string;
  getPart: (name: string) => Promise<Part>;
}

async function startPostgres(version: PostgresVersion, { mediaDirectory, getPart }: Given): Promise<Part> {
  const image = String((await getPart(`image/${version}`)).description);
  await copyMedia(image, mediaDirectory);
  const { url: clusterUrl, stop } = await startImage(version, image);
  return { description: { clusterUrl, templates }, stop };
}

// Imported when they are needed: a test of a package needs none of them, and loading them takes a second.
const starts: Record<string, (given: Given) => Promise<Part>> = {
  "image/newest": async () => ({ description: await findImage("newest") }),
  "image/oldest": async () => ({ description: await findImage("oldest") }),
  "postgres/newest": (given) => startPostgres("newest", given),
  "postgres/oldest": (given) => startPostgres("oldest", given),
  async "identity-provider"() {
    const { startIdentityProvider } = await import("@ehr-marketplace/dev/identity-provider");
    const provider = await startIdentityProvider({ port: 0 });
    const { issuer, jwksUrl, keys } = provider;
    return { description: { issuer, jwksUrl, keys }, stop: () => provider.stop() };
  },
  async keycloak() {
    const { startKeycloak } = await import("@ehr-marketplace/dev/keycloak");
    const keycloak = await startKeycloak();
    const { url, clientId, clientSecret } = keycloak;
    return { description: { url, clientId, clientSecret }, stop: () => keycloak.stop() };
  },
  async schemathesis() {
    const file = resolve(".venv/bin/schemathesis");
    if (!existsSync(file)) await promisify(execFile)("npm", ["run", "--silent", "setup:schemathesis"]);
    return { description: { file } };
  },
  async bundles() {
    const { bundleServices } = await import("@ehr-marketplace/dev/bundle");
    await bundleServices();
    return { description: {} };
  },
  async pages() {
    const { buildPages } = await import("@ehr-marketplace/web/build");
    return { description: { isBuilt: await buildPages() } };
  },
};

export interface SharedParts {
  /** What tests need to find the parts, as variables of their environment. */
  environment: Record<string, string>;
  /** Lets what is built from the services' source be built again when a test next needs it. */
  forgetBuilt(): void;
  stop(): Promise<void>;
}

/**
 * Serves what all test files share. Each part is started when a test first requests it, so that a file that needs none begins at once.
 * Test files find the parts by `getSharedPart` of test-kit.
 */
export async function serveSharedParts(): Promise<SharedParts> {
  // The files of the demo apps. Every marketplace of a test uses this folder, unless the test names another one.
  const mediaDirectory = await mkdtemp(join(tmpdir(), "ehr-marketplace-media-"));
  const parts = new Map<string, Promise<Part>>();
  const getPart = (name: string): Promise<Part> => {
    const missing = (): Promise<Part> => Promise.reject(new Error(`no shared part: ${name}`));
    const part = parts.get(name) ?? (starts[name] ?? missing)({ mediaDirectory, getPart });
    parts.set(name, part);
    return part;
  };
  const server = createServer((request, response) => {
    getPart((request.url ?? "").slice(1)).then(
      ({ description }) => response.end(JSON.stringify(description)),
      (error: Error) => response.writeHead(500).end(error.stack),
    );
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  return {
    environment: { TEST_PARTS_URL: `http://127.0.0.1:${port}`, MEDIA_DIRECTORY: mediaDirectory },
    forgetBuilt() {
      for (const name of ["bundles", "pages"]) parts.delete(name);
    },
    async stop() {
      server.close();
      server.closeAllConnections();
      const started = await Promise.allSettled(parts.values());
      const stopped = await Promise.allSettled(
        started.map(async (part) => {
          if (part.status === "fulfilled") await part.value.stop?.();
        }),
      );
      await rm(mediaDirectory, { recursive: true, force: true });
      for (const result of stopped) if (result.status === "rejected") console.error(result.reason);
    },
  };
}
