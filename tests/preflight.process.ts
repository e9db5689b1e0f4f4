// Builds both services, without a database, and exits with 1 and the reason if that fails. The runner starts it before the tests.
import { services } from "@ehr-marketplace/dev/generated-services";

const unreachableDatabase = "postgres://nobody@127.0.0.1:9/none";

for (const [name, service] of Object.entries(services)) {
  try {
    await (await service.createApp(unreachableDatabase)).server.ready();
  } catch (error) {
    console.error(`services/${name} doesn't start:\n`);
    console.error(error);
    process.exit(1);
  }
}
process.exit(0);
