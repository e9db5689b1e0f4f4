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

/** Calls the function once, and from then on returns or throws the same: Ajv doesn't check a schema a second time. */
function once<T>(make: () => T): () => T {
  type Outcome = { value: T } | { error: Error };
  let outcome: Outcome | undefined;
  const attempt = (): Outcome => {
    try {
      return { value: make() };
    } catch (error) {
      return { error: error as Error };
    }
  };
  return () => {
    outcome ??= attempt();
    if ("error" in outcome) throw outcome.error;
    return outcome.value;
  };
}

/**
 * Compiles each schema of a route when the route first needs it. A service has thousands, and compiling all of them took two thirds of
 * the time in which it starts; one takes a millisecond. The check that precedes the tests calls `compileAll`, so that no mistake in a schema waits
 * for a request.
 */
export function createSchemaCompilers(): SchemaCompilers {
  const compilations: { of: SchemaOfRoute; compile: () => unknown }[] = [];

  /**
   * Fastify calls the builder for each route of a scope that has added schemas, and what it returns once per schema of the route. Routes
   * with the same shared schemas get the same compiler, which reads these once.
   */
  function onFirstUse<Shared extends unknown[], Route extends SchemaOfRoute, Value, Result>(
    build: (...shared: Shared) => (route: Route) => (value: Value) => Result,
  ) {
    type Compiler = ReturnType<typeof build>;
    let last: { schemas: unknown[]; getCompiler: () => Compiler } | undefined;
    const findCompiler = (shared: Shared): (() => Compiler) => {
      const schemas = Object.values(shared[0] as object);
      const isLast =
        schemas.length === last?.schemas.length && schemas.every((each, nth) => each === last?.schemas[nth]);
      if (!isLast || last === undefined) last = { schemas, getCompiler: once(() => build(...shared)) };
      return last.getCompiler;
    };
    return (...shared: Shared) => {
      const getCompiler = findCompiler(shared);
      return (route: Route) => {
        const getCompiled = once(() => getCompiler()(route));
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
