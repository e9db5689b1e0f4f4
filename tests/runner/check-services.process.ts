// Builds the services, without a database, with all schemas of their routes. Exits with 1 and the reason if that fails.
import { services } from "@ehr-marketplace/dev/generated-services";

const unreachableDatabase = "postgres://nobody@127.0.0.1:9/none";

for (const [name, service] of Object.entries(services)) {
  try {
    const { server } = await service.createApp(unreachableDatabase);
    await server.ready();
    server.compileSchemas();
  } catch (error) {
    console.error(`services/${name} doesn't start:\n`);
    console.error(error);
    process.exit(1);
  }
}
process.exit(0);
