import assert from "node:assert/strict";
import { createServer } from "node:net";
import { describe, test } from "node:test";
import { cleanUpAfter, cloneDatabase, eventually } from "@ehr-marketplace/test-kit";
import { startWorkerProcess } from "@ehr-marketplace/tests/support/service-process";
import { mailerTo, startMailServer } from "./notices.test-support.ts";
import { createMailer } from "./send-mail.ts";

describe("the check of the mail server", () => {
  test("finds no problem with one that answers, and sends nothing", async (t) => {
    const server = await startMailServer(cleanUpAfter(t));
    assert.equal(await mailerTo(server.port).findProblem(), undefined);
    assert.deepEqual(server.received, []);
  });

  test("says why one can't be used, without the password and the server's words", async (t) => {
    const server = await startMailServer(cleanUpAfter(t));
    const config = { host: "127.0.0.1", secure: false, requiresTls: false, from: "notices@example.com" };
    const refused = createMailer({ ...config, port: server.port, auth: { user: "marketplace", pass: "s3cret" } });
    assert.match((await refused.findProblem()) ?? "", /^EAUTH [A-Z0-9 ]+$/);
    const withoutTls = createMailer({ ...config, port: server.port, requiresTls: true, auth: undefined });
    assert.match((await withoutTls.findProblem()) ?? "", /^ETLS/);
    assert.match((await mailerTo(1).findProblem()) ?? "", /^ESOCKET|^ECONNECTION/);
  });

  test("is in a worker's log, and a server that never answers doesn't keep the worker from starting", async (t) => {
    const cleanUp = cleanUpAfter(t);
    const [{ serviceUrl }, server] = [await cloneDatabase(cleanUp), await startMailServer(cleanUp)];
    const silent = createServer().listen(0, "127.0.0.1");
    cleanUp(async () => {
      silent.close();
    });
    const start = (port: number) =>
      startWorkerProcess(cleanUp, serviceUrl, {
        environment: { LOG_LEVEL: "info", SMTP_URL: `smtp://127.0.0.1:${port}`, MAIL_FROM: "notices@example.com" },
      });
    const working = await start(server.port);
    await eventually("the check is logged", 30_000, async () =>
      working.logEntries.some(({ msg }) => msg === "the mail server accepts mails"),
    );
    const address = silent.address();
    const waiting = await start(typeof address === "object" && address !== null ? address.port : assert.fail());
    const found = () => waiting.logEntries.find(({ msg }) => String(msg).startsWith("the mail server doesn't accept"));
    assert.equal(found(), undefined, "it is ready before");
    await eventually("the warning is logged", 20_000, async () => found() !== undefined);
    assert.match(String(found()?.["reason"]), /^ETIMEDOUT/);
  });
});
