import assert from "node:assert/strict";
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, before, describe, test } from "node:test";
import { promisify } from "node:util";
import { buildPackage } from "../scripts/build.ts";
import { signBody, standardHeaders } from "./index.ts";
import { vectorsFile } from "./vectors.test-fixture.ts";

const run = promisify(execFile);
const name = "@ehr-marketplace/webhook-signature";
const binaries = join(import.meta.dirname, "../../../node_modules/.bin");
const secret = "a-shared-secret-of-32-characters";

/** Runs a tool of node_modules; if it fails, its output is the error message. */
async function runTool(tool: string, ...options: string[]): Promise<void> {
  const ended = run(process.execPath, [join(binaries, tool), ...options]);
  await assert.doesNotReject(
    ended.catch(({ message, stdout }: Error & { stdout: string }) => {
      throw new Error(`${message}\n${stdout}`);
    }),
  );
}

describe("the package that is published", () => {
  let directory: string;
  let tarball: string;
  let consumer: string;
  let installed: string;

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), "webhook-signature-"));
    const built = join(directory, "built");
    await buildPackage(built);
    const packed = await run("npm", ["pack", built, "--pack-destination", directory, "--json"]);
    const [{ filename }] = JSON.parse(packed.stdout) as [{ filename: string }];
    tarball = join(directory, filename);

    consumer = join(directory, "consumer");
    installed = join(consumer, "node_modules", name);
    await mkdir(installed, { recursive: true });
    await run("tar", ["-xzf", tarball, "--strip-components=1", "-C", installed]);
    await writeFile(join(consumer, "package.json"), '{ "type": "module" }');
  });
  after(() => rm(directory, { recursive: true, force: true }));

  test("has compiled JavaScript and declarations, and no source, test or tool", async () => {
    const shipped = ["LICENSE", "README.md", "dist", "package.json", "vectors.json"];
    assert.deepEqual(new Set(await readdir(installed)), new Set(shipped));
    const compiled = await readdir(join(installed, "dist"));
    assert.ok(compiled.includes("index.js") && compiled.includes("index.d.ts"));
    for (const file of compiled) {
      assert.match(file, /^[a-z-]+(\.d\.ts|\.js)$/);
      const text = await readFile(join(installed, "dist", file), "utf8");
      for (const [, imported = ""] of text.matchAll(/from "(.*)"/g)) {
        assert.ok(
          imported.startsWith("node:") || compiled.includes(imported.replace("./", "")),
          `${file}: ${imported}`,
        );
      }
    }
    const manifest = JSON.parse(await readFile(join(installed, "package.json"), "utf8")) as Record<string, unknown>;
    for (const field of ["private", "scripts", "dependencies", "devDependencies"])
      assert.ok(!(field in manifest), field);
  });

  test("runs in plain Node, with types and vectors", async () => {
    await writeFile(
      join(consumer, "check.js"),
      `import { signBody, verifyBody } from "${name}";
       import vectors from "${name}/vectors.json" with { type: "json" };
       const [{ body, secret, signature }] = vectors.marketplace;
       console.log(signBody(body, secret) === signature, verifyBody({ body, signature, secrets: [secret] }));`,
    );
    const { stdout } = await run(process.execPath, ["--no-strip-types", join(consumer, "check.js")]);
    assert.equal(stdout, "true true\n");
    assert.deepEqual(await readFile(join(installed, "vectors.json")), await readFile(vectorsFile));
  });

  test("has types that need neither those of Node nor of the DOM", async () => {
    await writeFile(
      join(consumer, "check.ts"),
      `import { verifyWebhook, type StandardRejection } from "${name}";
       const result = verifyWebhook({ headers: { a: ["b"], c: undefined }, body: new Uint8Array(), secrets: ["x"] });
       export const reason: StandardRejection | undefined = result.valid ? undefined : result.reason;
       // @ts-expect-error: an object is no raw body
       verifyWebhook({ headers: new Map<string, never>(), body: {}, secrets: [] });`,
    );
    const project = { module: "nodenext", lib: ["es2022"], types: [], strict: true, noEmit: true };
    await writeFile(join(consumer, "tsconfig.json"), JSON.stringify({ compilerOptions: project, files: ["check.ts"] }));
    await runTool("tsc", "--project", consumer);
  });

  test("has no publint problems", async () => {
    await runTool("publint", "run", tarball, "--strict");
  });

  test("has types that every ES module resolution finds", async () => {
    await runTool("attw", tarball, "--profile", "esm-only");
  });

  describe("the README's receiver", () => {
    let receiver: ChildProcess;
    let address: string;

    before(async () => {
      const readme = await readFile(join(installed, "README.md"), "utf8");
      const code = /### Plain Node\n+```js\n(.*?)```/s.exec(readme)?.[1];
      assert.ok(code !== undefined);
      await writeFile(join(consumer, "receiver.js"), code);
      const env = { ...process.env, PORT: "0", WEBHOOK_SECRET: secret };
      receiver = spawn(process.execPath, [join(consumer, "receiver.js")], {
        env,
        stdio: ["ignore", "pipe", "inherit"],
      });
      assert.ok(receiver.stdout !== null);
      const [line] = (await once(createInterface(receiver.stdout), "line")) as [string];
      address = `http://127.0.0.1:${line.replace("listening on ", "")}`;
    });
    after(() => receiver.kill());

    const body = '{ "event": "ping", "note": "Grüße 🩺" }\n';
    const trio = standardHeaders({ id: "delivery-1", timestamp: new Date(), body, secrets: [secret] });
    const send = async (headers: Record<string, string>, sent: string): Promise<number> => {
      const { status } = await fetch(address, { method: "POST", headers, body: sent });
      return status;
    };

    test("accepts a delivery by either signature", async () => {
      assert.equal(await send(trio, body), 204);
      assert.equal(await send({ "X-Marketplace-Signature": signBody(body, secret) }, body), 204);
    });

    test("refuses one that was altered, is old or isn't signed", async () => {
      assert.equal(await send(trio, JSON.stringify(JSON.parse(body))), 401);
      assert.equal(await send({}, body), 401);
      const old = standardHeaders({ id: "delivery-1", timestamp: 1_772_357_400, body, secrets: [secret] });
      assert.equal(await send(old, body), 401);
    });
  });
});
