import 'reflect-metadata';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { RequestMethod, type DynamicModule, type Type } from '@nestjs/common';
import { getRouteOptions } from '#api/access';
import { ROOT } from './folders.js';

export type Route = {
  readonly method: string;
  readonly path: string;
  /** Status of a successful response. */
  readonly status: number;
  /** Whether the route needs no token: `@Public()`. */
  readonly open: boolean;
  /** Whether browsers use the route: it has forms and HTML instead of JSON. */
  readonly isPage: boolean;
  /** Whether the handler reads the body of the request. */
  readonly readsBody: boolean;
  readonly controller: Type;
  /** Name of the controller's method. */
  readonly handler: string;
  /** Index of the path among the paths of the handler. */
  readonly alternative: number;
};
/** A controller's file, named after the type that it returns. */
export type EndpointModule = { readonly file: string; readonly name: string; readonly controllers: readonly Type[] };

export const LIBS = join(ROOT, 'libs');

// Nest stores the metadata of its decorators under these names, and exports none of them.
const metadata = <T>(key: string, target: object): T | undefined => Reflect.getMetadata(key, target) as T | undefined;

const isController = (value: unknown): value is Type =>
  typeof value === 'function' && metadata('__controller__', value) === true;

const joined = (...parts: readonly string[]): string =>
  `/${parts.join('/')}`.replaceAll(/\/+/g, '/').replace(/(.)\/$/, '$1');

/** Nest stores the parameters of a handler by kind and position, such as `3:1`. */
const BODY = /^3:/;

const readsBodyIn = (controller: Type, handler: string): boolean => {
  const parameters = Reflect.getMetadata('__routeArguments__', controller, handler) as object | undefined;
  return Object.keys(parameters ?? {}).some((key) => BODY.test(key));
};

export const routesOf = (controller: Type): Route[] =>
  Object.getOwnPropertyNames(controller.prototype).flatMap((name) => {
    const method: unknown = (controller.prototype as Record<string, unknown>)[name];
    if (name === 'constructor' || typeof method !== 'function' || metadata('path', method) === undefined) return [];
    return routesOfHandler(controller, name, method);
  });

const statusOf = (method: object, verb: string): number =>
  metadata<{ readonly statusCode: number }>('__redirect__', method)?.statusCode ??
  metadata<number>('__httpCode__', method) ??
  (verb === 'POST' ? 201 : 200);

const routesOfHandler = (controller: Type, handler: string, method: object): Route[] => {
  const prefixes = [metadata<string | string[]>('path', controller) ?? ''].flat();
  const paths = [metadata<string | string[]>('path', method) ?? ''].flat();
  const verb = RequestMethod[metadata<RequestMethod>('method', method) ?? RequestMethod.GET];
  const route = {
    method: verb,
    status: statusOf(method, verb),
    open: getRouteOptions(method).isPublic ?? false,
    isPage: getRouteOptions(method).page !== undefined,
    readsBody: readsBodyIn(controller, handler),
    controller,
    handler,
  };
  return prefixes
    .flatMap((prefix) => paths.map((path) => joined(prefix, path)))
    .map((path, alternative) => ({ ...route, path, alternative }));
};

export const filesOf = async (suffix: RegExp): Promise<string[]> =>
  (await readdir(LIBS, { recursive: true })).filter((file) => suffix.test(file)).toSorted();

const readEndpointModule = async (file: string): Promise<EndpointModule> => {
  const exported = Object.values((await import(`../../libs/${file.replace(/ts$/, 'js')}`)) as object);
  const name = file.replace(/^.*\//, '').replace('.controller.ts', '');
  return { file, name, controllers: exported.filter(isController) };
};

export const listEndpointModules = async (): Promise<EndpointModule[]> =>
  Promise.all((await filesOf(/\.controller\.ts$/)).map(readEndpointModule));

type Listing = { imports?: unknown[]; controllers?: Type[] };

/** Returns every controller of a module and of the modules that it imports. */
export const controllersIn = (module: Type | DynamicModule, visited = new Set<Type>()): Type[] => {
  const { module: type, ...dynamic } = 'module' in module ? module : { module };
  if (visited.has(type)) return [];
  visited.add(type);
  const listed = (key: keyof Listing): unknown[] => [
    ...(metadata<unknown[]>(key, type) ?? []),
    ...(((dynamic as Listing)[key] ?? []) as unknown[]),
  ];
  const below = (listed('imports') as (Type | DynamicModule)[]).flatMap((inner) => controllersIn(inner, visited));
  return [...(listed('controllers') as Type[]), ...below];
};
