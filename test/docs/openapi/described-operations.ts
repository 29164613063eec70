import type { ControllerDescription, OperationDescription, OperationTag } from '#api/json-api/description';
import type { ResourceDescription } from '#api/json-api/description';
import { filesOf } from '../../support/gateway-routes.js';
import { routes, type DocumentedRoute } from '../routes.js';

/** A route with its description. */
export type DescribedOperation = {
  readonly route: DocumentedRoute;
  readonly operationId: string;
  readonly tag: OperationTag;
  readonly description: OperationDescription;
};

const importLibrary = async (file: string): Promise<readonly object[]> => {
  const exports = (await import(`../../../libs/${file.replace(/ts$/, 'js')}`)) as Record<string, unknown>;
  return Object.values(exports).filter((value) => typeof value === 'object' && value !== null);
};

const exportsOf = async (suffix: RegExp): Promise<readonly object[]> =>
  (await Promise.all((await filesOf(suffix)).map(importLibrary))).flat();

const isController = (value: object): value is ControllerDescription => 'controller' in value && 'operations' in value;

const isResource = (value: object): value is ResourceDescription => 'exampleId' in value && 'schema' in value;

/** Returns the resources of all `*.schema.ts` and `*.openapi.ts`, by name. Throws if two have the same name. */
export const loadResources = async (): Promise<ReadonlyMap<string, ResourceDescription>> => {
  const resources = (await exportsOf(/\.(?:openapi|schema)\.ts$/)).filter(isResource);
  const byName = new Map(resources.map((resource) => [resource.name, resource]));
  const repeated = resources.filter((resource) => byName.get(resource.name) !== resource).map(({ name }) => name);
  if (repeated.length > 0) throw new Error(`several schemas have the name ${repeated.join(', ')}`);
  return byName;
};

const nameOperation = ({ operationId }: OperationDescription, { alternative, path }: DocumentedRoute): string => {
  const name = [operationId].flat()[alternative];
  if (name === undefined) throw new Error(`${path} has no operationId: the description needs one for each path`);
  return name;
};

/** Returns every route that is described, with its description. Files named `*.openapi.ts` describe routes. */
export const loadOperations = async (): Promise<readonly DescribedOperation[]> => {
  const controllers = (await exportsOf(/\.openapi\.ts$/)).filter(isController);
  const byController = new Map(controllers.map((described) => [described.controller, described]));
  return (await routes()).flatMap((route) => {
    const described = byController.get(route.controller);
    const description = described?.operations[route.handler];
    if (!described || !description) return [];
    return [{ route, operationId: nameOperation(description, route), tag: described.tag, description }];
  });
};
