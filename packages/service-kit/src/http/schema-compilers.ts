import type { FastifyServerOptions } from "fastify";
import { buildSerializer } from "./build-serializer.ts";
import { buildValidator } from "./strict-validation.ts";

declare module "fastify" {
  interface FastifyInstance {
    /** Compiles the schemas that no request has needed yet, and throws if one has a mistake. */
    compileSchemas: () => void;
  }
}

type SchemaController = NonNullable<FastifyServerOptions["schemaController"]>;
type Factory = Required<NonNullable<SchemaController["compilersFactory"]>>;

interface SchemaCompilers {
  compilersFactory: Factory;
  compileAll: () => void;
}

/** The part of Fastify's description of a schema that an error names. */
interface SchemaOfRoute {
  method: string;
  url: string;
  /** Of a request. */
  httpPart?: string;
  /** Of a response. */
  httpStatus?: string;
}

/**
 * Compiles each schema of a route when the route first needs it. A service has thousands, and compiling all of them took two thirds of
 * the time in which it starts; one takes a millisecond. The check that precedes the tests calls `compileAll`, so that no mistake in a schema waits
 * for a request.
 */
export function createSchemaCompilers(): SchemaCompilers {
  const compilations: { of: SchemaOfRoute; compile: () => unknown }[] = [];

  /** Fastify calls the builder once per scope that adds schemas, and what it returns once per schema of a route. */
  function onFirstUse<Shared extends unknown[], Route extends SchemaOfRoute, Value, Result>(
    build: (...shared: Shared) => (route: Route) => (value: Value) => Result,
  ) {
    return (...shared: Shared) => {
      let compile: ReturnType<typeof build> | undefined;
      return (route: Route) => {
        let compiled: ((value: Value) => Result) | undefined;
        let failure: Error | undefined;
        const getCompiled = (): ((value: Value) => Result) => {
          if (compiled !== undefined) return compiled;
          // Ajv doesn't check a schema a second time.
          if (failure !== undefined) throw failure;
          try {
            compile ??= build(...shared);
            compiled = compile(route);
            return compiled;
          } catch (error) {
            failure = error as Error;
            throw error;
          }
        };
        compilations.push({ of: route, compile: getCompiled });
        return (value: Value) => getCompiled()(value);
      };
    };
  }

  return {
    compilersFactory: {
      buildSerializer: onFirstUse(buildSerializer as never) as Factory["buildSerializer"],
      buildValidator: onFirstUse(buildValidator as never) as Factory["buildValidator"],
    },
    compileAll() {
      for (const { of, compile } of compilations) {
        try {
          compile();
        } catch (error) {
          const part = of.httpPart ?? `response ${of.httpStatus}`;
          const reason = error instanceof Error ? error.message : String(error);
          throw new Error(`${of.method} ${of.url} has an invalid schema (${part}): ${reason}`, { cause: error });
        }
      }
    },
  };
}
