import 'reflect-metadata';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { RequestMethod, type DynamicModule, type Type } from '@nestjs/common';
import { getRouteOptions } from '#access';
import { ROOT } from './folders.js';

export type Route = {
  readonly method: string;
  readonly path: string;
  /** Of an answer that is not a refusal. */
  readonly status: number;
  /** Whether the caller may be anybody: `@Public()`. */
  readonly open: boolean;
  /** Whether the handler reads the request's body. */
  readonly readsBody: boolean;
};
/** A controller's file, called after what it answers with. */
export type EndpointModule = { readonly file: string; readonly name: string; readonly controllers: readonly Type[] };

export const LIBS = join(ROOT, 'libs');

// Nest keeps what its decorators say under these names, and exports none of them.
const metadata = <T>(key: string, target: object): T | undefined => Reflect.getMetadata(key, target) as T | undefined;

const isController = (value: unknown): value is Type =>
  typeof value === 'function' && metadata('__controller__', value) === true;

const joined = (...parts: readonly string[]): string =>
  `/${parts.join('/')}`.replaceAll(/\/+/g, '/').replace(/(.)\/$/, '$1');

/** Nest keeps the parameters of a handler by their kind and position, such as `3:1`. */
const BODY = /^3:/;

const readsBodyIn = (controller: Type, handler: string): boolean => {
  const parameters = Reflect.getMetadata('__routeArguments__', controller, handler) as object | undefined;
  return Object.keys(parameters ?? {}).some((key) => BODY.test(key));
};

export const routesOf = (controller: Type): Route[] =>
  Object.getOwnPropertyNames(controller.prototype).flatMap((name) => {
    const handler: unknown = (controller.prototype as Record<string, unknown>)[name];
    if (name === 'constructor' || typeof handler !== 'function' || metadata('path', handler) === undefined) return [];
    const paths = [metadata<string | string[]>('path', handler) ?? ''].flat();
    const prefixes = [metadata<string | string[]>('path', controller) ?? ''].flat();
    const method = RequestMethod[metadata<RequestMethod>('method', handler) ?? RequestMethod.GET];
    const status = metadata<number>('__httpCode__', handler) ?? (method === 'POST' ? 201 : 200);
    const open = getRouteOptions(handler).isPublic ?? false;
    const readsBody = readsBodyIn(controller, name);
    return prefixes.flatMap((prefix) =>
      paths.map((path) => ({ method, path: joined(prefix, path), status, open, readsBody })),
    );
  });

export const filesOf = async (suffix: RegExp): Promise<string[]> =>
  (await readdir(LIBS, { recursive: true })).filter((file) => suffix.test(file)).toSorted();

const roomOf = async (file: string): Promise<EndpointModule> => {
  const exported = Object.values((await import(`../../libs/${file.replace(/ts$/, 'js')}`)) as object);
  const name = file.replace(/^.*\//, '').replace('.controller.ts', '');
  return { file, name, controllers: exported.filter(isController) };
};

export const listEndpointModules = async (): Promise<EndpointModule[]> =>
  Promise.all((await filesOf(/\.controller\.ts$/)).map(roomOf));

type Listing = { imports?: unknown[]; controllers?: Type[] };

/** Every controller that a module and those it imports list. */
export const controllersIn = (module: Type | DynamicModule, seen = new Set<Type>()): Type[] => {
  const { module: type, ...dynamic } = 'module' in module ? module : { module };
  if (seen.has(type)) return [];
  seen.add(type);
  const listed = (key: keyof Listing): unknown[] => [
    ...(metadata<unknown[]>(key, type) ?? []),
    ...(((dynamic as Listing)[key] ?? []) as unknown[]),
  ];
  const below = (listed('imports') as (Type | DynamicModule)[]).flatMap((inner) => controllersIn(inner, seen));
  return [...(listed('controllers') as Type[]), ...below];
};
